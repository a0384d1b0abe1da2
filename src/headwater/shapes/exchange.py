"""Lists of sources that were brought in."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.discover.importing import Imported
    from headwater.sources.exchange.reading import ReadSources


def import_as_dict(read: "ReadSources", done: "Imported", *, is_dry: bool) -> dict[str, Any]:
    return {
        "is_dry_run": is_dry,
        "added": done.added,
        "paused": done.paused,
        "blocked": done.blocked,
        "deleted": done.deleted,
        "feeds_added": done.feeds_added,
        "known": done.known,
        "updated": None if is_dry else done.updated,  # only doing it tells
        "duplicates": read.duplicates,
        "unused_columns": read.unused,
        "doubled_columns": read.doubled,
        "invalid": [{"line": one.line, "text": one.text, "reason": one.reason} for one in done.bad],
    }
