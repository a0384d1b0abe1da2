"""Lists of sources brought in and written out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from headwater.discover.api.secrets import secrets_from
from headwater.discover.exporting import rows_of, sources_rendered
from headwater.discover.importing import Import, Imported, is_plain_api, needs_browser, needs_trust
from headwater.reports.discovery import NOBODY, SourceFilter, list_sources
from headwater.services import Services
from headwater.sources.exchange.fields import Row
from headwater.sources.exchange.rows import BadLine
from headwater.sources.external import external_ids_of

EXPORTED_AT_ONCE = 500


@dataclass(slots=True)
class Untrusted:
    """Rows that would bring more if the file were trusted: how many of each sort, and the first of them."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def note(self, row: Row) -> None:
        sorts = [("api" if is_plain_api(row) else "voice", needs_trust(row)), ("browser", needs_browser(row))]
        for sort in (sort for sort, is_so in sorts if is_so):
            self.counts[sort] += 1
            self.first.setdefault(sort, row.url)


@dataclass(frozen=True, slots=True)
class ImportedFile:
    done: Imported
    untrusted: Untrusted


async def import_sources(
    services: Services,
    rows: Iterable[Row | BadLine],
    actor: str,
    *,
    kind: str = "",
    is_trusted: bool = False,
    is_dry: bool = False,
    progress: Callable[[int], None] = lambda _done: None,
) -> ImportedFile:
    """`kind` holds for rows that do not say theirs."""
    untrusted = Untrusted()
    secrets = secrets_from(services.settings.poll.secrets_file)
    delay = services.settings.politeness.delay
    importing = Import(services.database, delay, actor, secrets, is_trusted=is_trusted, is_dry=is_dry)
    return ImportedFile(await importing.of(_noted(rows, kind, untrusted), progress), untrusted)


def _noted(rows: Iterable[Row | BadLine], kind: str, untrusted: Untrusted) -> Iterator[Row | BadLine]:
    for one in rows:
        if isinstance(one, Row):
            untrusted.note(one)
            yield replace(one, kind=one.kind or kind)
        else:
            yield one


async def export_sources(services: Services, wanted: SourceFilter) -> list[Row]:
    """Rows by the names of their sources: one for each feed."""
    rows: list[Row] = []
    after = ("", NOBODY)
    while page := await list_sources(services.database, wanted, EXPORTED_AT_ONCE, after):
        ids = await external_ids_of(services.database, [one.source.id for one in page])
        rendered = await sources_rendered(services.database, [one.source for one in page])
        for one in page:
            own, is_rendered = ids.get(one.source.id, ()), one.source.id in rendered
            rows += rows_of(one.source, one.channels, external_ids=own, is_rendered=is_rendered)
        after = (page[-1].source.name, page[-1].source.id)
    return rows
