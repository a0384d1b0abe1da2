"""Lists of sources brought in and written out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from headwater.discover.api.secrets import secrets_from
from headwater.discover.exporting import rows_of, sources_rendered
from headwater.discover.importing import Import, Imported, is_plain_api, needs_browser, needs_trust
from headwater.reports.discovery import NOBODY, SourceFilter, sources_that_match
from headwater.services import Services
from headwater.sources.exchange.fields import BadLine, Row
from headwater.sources.finding import external_ids_of
from headwater.sources.store import channels_of

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
    while page := await sources_that_match(services.database, wanted, EXPORTED_AT_ONCE, after):
        ids = [source.id for source in page]
        channels = await channels_of(services.database, ids)
        external_ids = await external_ids_of(services.database, ids)
        rendered = await sources_rendered(services.database, page)
        for source in page:
            own, is_rendered = external_ids.get(source.id, ()), source.id in rendered
            rows += rows_of(source, channels[source.id], external_ids=own, is_rendered=is_rendered)
        after = (page[-1].name, page[-1].id)
    return rows
