"""`headwater docs`: the archive, to search, to look into and to read again by changed rules."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from headwater.cli.launch import AsJson, Cursor, Launch, Launched
from headwater.cli.output import say, say_more, show, show_json, show_marked
from headwater.cli.serving import with_services
from headwater.cli.words import inert, quantity, shorten
from headwater.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from headwater.reports.archive import DetailedHit, SearchAnswer
    from headwater.services import Services

WIDEST_TITLE = 100
# How many hits: a word for every command that searches.
Hits = Annotated[int, Parameter(validator=Number(gte=1, lte=100), help="How many to show.")]
Flag = Annotated[bool, Parameter(negative="")]
# Filters that every command about the archive knows.
Source = Annotated[str | None, Parameter(help="Only of this source: its id, address, host or name.")]
Language = Annotated[str | None, Parameter(help="Only in this language, by its two letters.")]
Published = Annotated[
    str | None, Parameter(help="Only documents published, or else first seen, since: 7d, 12h, or a date.")
]
Duplicates = Annotated[bool, Parameter(negative="", help="Also those that say the same as an older document.")]

app = App(name="docs", help="The archive: list, search, show a document, read pages again by changed rules.")
app.command(
    "headwater.cli.docs.showing:show_document", name="show", help="Show a document: text, origin, quality, history."
)
app.command("headwater.cli.docs.replay:reextract", name="reextract", help="Read stored pages again by today's rules.")


@app.command(name="search")
def search(
    *query: str,
    source: Source = None,
    language: Language = None,
    since: Published = None,
    duplicates: Duplicates = False,
    limit: Hits = 20,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Search the documents, the best match first; by filters alone, the newest first.

    Parameters
    ----------
    query
        Words, "whole phrases", or, and -without as search engines know them.
    """
    asked = question_of(
        query, (source, language, since, duplicates), 'headwater docs search "tide tables"', "headwater docs list"
    )
    _find(asked, (source, language, since, duplicates), limit, cursor, is_json=json, launch=launch)


@app.command(name="list")
def list_documents(
    *,
    source: Source = None,
    language: Language = None,
    since: Published = None,
    duplicates: Duplicates = False,
    limit: Hits = 20,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List the documents, the newest first: by when they were first seen."""
    _find("", (source, language, since, duplicates), limit, cursor, is_json=json, launch=launch)


def _find(
    asked: str,
    filters: tuple[str | None, str | None, str | None, bool],
    limit: int,
    cursor: str | None,
    *,
    is_json: bool,
    launch: Launch,
) -> None:
    source, language, since, duplicates = filters

    async def work(services: "Services") -> "SearchAnswer":
        from headwater.reports.archive import find_documents
        from headwater.search.question import Filters

        wanted = Filters(
            source_id=await source_id_of(services, source),
            language=language and language.lower(),
            since=moment_of(since, services.clock.now()),
            duplicates=duplicates,
        )
        return await find_documents(services.database, services.clock, asked, wanted, limit, cursor)

    answer = with_services(launch, work)
    if is_json:
        show_json({"documents": [_hit_for_programs(one) for one in answer.found], **account_of(answer)})
        return
    for one in answer.found:
        when = one.hit.published_at or one.hit.first_seen_at
        facts = (one.about["source"] or "", f"{when:%Y-%m-%d}", quantity(one.about["word_count"], "word"))
        show_hit(one, [*facts, one.hit.language, "duplicate" if one.hit.is_duplicate else ""])
    tell_about(answer, "document", "documents")


def question_of(words: "Sequence[str]", filters: "Sequence[object]", example: str, listing: str) -> str:
    """The words; none are needed where a filter says what is wanted."""
    asked = " ".join(words).strip()
    if not asked and not any(filters):
        raise UsageError("There is nothing to search for.", fix=f"Give words, as in: {example}. The newest: {listing}")
    return asked


async def source_id_of(services: "Services", source: str | None) -> "UUID | None":
    from headwater.sources.store import find_source

    return (await find_source(services.database, source)).id if source else None


def moment_of(text: str | None, now: datetime) -> datetime | None:
    """`7d` before now, or a date as people and programs write it."""
    from headwater.settings.durations import parse_duration

    if text is None:
        return None
    try:
        return now - parse_duration(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise UsageError(f"{text!r} is no time.", fix="Write it as 7d, 12h or 2026-05-01.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def show_hit(one: "DetailedHit", facts: "Sequence[str]") -> None:
    show(shorten(one.hit.title, WIDEST_TITLE) or "(no title)")
    show(f"  {' · '.join(inert(fact) for fact in facts if fact)}")
    show(f"  {inert(one.hit.url)}")
    if one.hit.snippet:
        first, *others = map(_inert_piece, one.hit.pieces)
        show_marked([f"  {first.lstrip()}", *others])
    show("")


def _inert_piece(text: str) -> str:
    """With the space that parts it from its neighbours."""
    before, after = (" " if end.isspace() else "" for end in (text[:1], text[-1:]))
    return f"{before}{inert(text)}{after}" if text.strip() else before


def account_of(answer: "SearchAnswer") -> dict[str, Any]:
    return {
        "cursor": answer.cursor,
        "has_more": answer.has_more,
        "is_complete": answer.is_complete,
        "engine": answer.engine,
        "took_ms": round(answer.took.total_seconds() * 1000, 1),
    }


def tell_about(answer: "SearchAnswer", one: str, many: str) -> None:
    how = f"by {answer.engine} in {answer.took.total_seconds() * 1000:.0f} ms"
    count = len(answer.found)
    if count:
        say(f"{count} {one if count == 1 else many}{', and there are more' if answer.has_more else ''}; found {how}.")
    elif answer.has_more:
        say(f"No {one} matches among the newest; older ones are left to look through.")
    else:
        say(f"No {one} matches. Searched {how}.")
    if not answer.is_complete:
        say("Many match: only the newest were ranked. Rarer words or a filter find older ones.")
    say_more(answer.cursor)


def _hit_for_programs(one: "DetailedHit") -> dict[str, Any]:
    hit = one.hit
    return {
        "id": hit.hash.hex(),
        "url": hit.url,
        "title": hit.title,
        "source": one.about["source"],
        "source_id": hit.source_id,
        "language": hit.language,
        "published_at": hit.published_at,
        "first_seen_at": hit.first_seen_at,
        "word_count": one.about["word_count"],
        "is_duplicate": hit.is_duplicate,
        "snippet": hit.snippet,
        "rank": hit.rank,
    }
