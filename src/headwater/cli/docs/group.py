"""`headwater docs`: the archive, to search, to look into and to read again by changed rules."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from headwater.cli.launch import AsJson, Cursor, Launch, Launched, with_services
from headwater.cli.output import say, say_more, show, show_json, show_marked
from headwater.cli.words import inert, quantity, shorten
from headwater.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.reports.archive import DetailedHit, SearchAnswer
    from headwater.services import Services

WIDEST_TITLE = 100
# How many hits: a word for every command that searches.
Hits = Annotated[int, Parameter(validator=Number(gte=1, lte=100), help="How many to show.")]
Flag = Annotated[bool, Parameter(negative="")]
# Filters that every command about the archive knows.
SourceOption = Annotated[str | None, Parameter(help="Only of this source: its id, address, host or name.")]
Language = Annotated[str | None, Parameter(help="Only in this language, by its two letters.")]
Published = Annotated[
    str | None, Parameter(help="Only documents published, or else first seen, since: 7d, 12h, or a date.")
]
InView = Annotated[str | None, Parameter(name="--view", help="Only in this view: `headwater views list` shows them.")]
RightsOption = Annotated[
    list[str] | None,
    Parameter(
        name="--rights",
        negative="",
        help="Only where publishers say so of use, as train=allowed or tdm=unknown; repeat it: all must hold.",
    ),
]
ByAuthor = Annotated[str | None, Parameter(name="--author", help="Only of this author, as the name is written there.")]
Duplicates = Annotated[bool, Parameter(negative="", help="Also those that say the same as an older document.")]

app = App(name="docs", help="The archive: list, search, show, export, read pages again by changed rules.")
app.command(
    "headwater.cli.docs.showing:show_document", name="show", help="Show a document: text, origin, quality, history."
)
app.command(
    "headwater.cli.docs.replay:inspect", name="inspect", help="Explain which reading of a stored page became its text."
)
app.command("headwater.cli.docs.replay:reextract", name="reextract", help="Read stored pages again by today's rules.")
app.command(
    "headwater.cli.exporting:export_documents", name="export", help="Write documents into a file, a folder or a pipe."
)


@app.command(name="search")
def search(
    *query: str,
    source: SourceOption = None,
    language: Language = None,
    since: Published = None,
    duplicates: Duplicates = False,
    view: InView = None,
    rights: RightsOption = None,
    author: ByAuthor = None,
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
    filters = (source, language, since, duplicates, view, tuple(rights or ()), author)
    asked = question_of(query, filters, 'headwater docs search "tide tables"', "headwater docs list")
    _find(asked, filters, limit, cursor, is_json=json, launch=launch)


@app.command(name="list")
def list_documents(
    *,
    source: SourceOption = None,
    language: Language = None,
    since: Published = None,
    duplicates: Duplicates = False,
    view: InView = None,
    rights: RightsOption = None,
    author: ByAuthor = None,
    limit: Hits = 20,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List the documents, the newest first: by when they were first seen."""
    filters = (source, language, since, duplicates, view, tuple(rights or ()), author)
    _find("", filters, limit, cursor, is_json=json, launch=launch)


def _find(
    asked: str,
    filters: tuple[str | None, str | None, str | None, bool, str | None, tuple[str, ...], str | None],
    limit: int,
    cursor: str | None,
    *,
    is_json: bool,
    launch: Launch,
) -> None:
    source, language, since, duplicates, view, rights, author = filters

    async def work(services: "Services") -> "SearchAnswer":
        from headwater.actions.searching import ArchiveWish, documents_wished

        wish = ArchiveWish(
            source=source,
            language=language,
            since=since,
            duplicates=duplicates,
            view=view,
            rights=rights,
            author=author,
        )
        return await documents_wished(services, asked, wish, limit, cursor)

    answer = with_services(launch, work)
    if is_json:
        from headwater.shapes.archive import account_of, document_hit_as_dict

        show_json({"documents": [document_hit_as_dict(one) for one in answer.found], **account_of(answer)})
        return
    for one in answer.found:
        # Without words the newest are first: by when they were seen, so that is what is shown first.
        times = times_of(one, is_by_time=not asked)
        facts = (one.about["source"] or "", *times, quantity(one.about["word_count"], "word"))
        show_hit(one, [*facts, one.hit.language, "duplicate" if one.hit.is_duplicate else ""])
    tell_about(answer, "document", "documents")


def times_of(one: "DetailedHit", *, is_by_time: bool) -> list[str]:
    """The time that a list is ordered by, named; among the best matches the day alone."""
    seen, published = one.hit.first_seen_at, one.hit.published_at
    if not is_by_time:
        return [f"{published or seen:%Y-%m-%d}"]
    return [f"first seen {seen:%Y-%m-%d %H:%M}", f"published {published:%Y-%m-%d}" if published else ""]


def question_of(words: "Sequence[str]", filters: "Sequence[object]", example: str, listing: str) -> str:
    """The words; none are needed where a filter says what is wanted."""
    asked = " ".join(words).strip()
    if not asked and not any(filters):
        raise UsageError("There is nothing to search for.", fix=f"Give words, as in: {example}. The newest: {listing}")
    return asked


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
