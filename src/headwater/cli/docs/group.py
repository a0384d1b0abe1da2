"""`headwater docs`: the archive, to search, to look into and to read again by changed rules."""

from dataclasses import asdict, dataclass
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
    from headwater.search.facets import Facet, FacetCounts, Facets
    from headwater.services import Services

WIDEST_TITLE, WIDEST_VALUE = 100, 60
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
Duplicates = Annotated[bool, Parameter(negative="", help="Also those that say the same as an older document.")]
AskedFacets = Annotated[
    str | None,
    Parameter(
        help="Also count the values of fields over all that match: source, host, language, page_type, author, month, "
        "day, with commas between them. Each value can be given to the option of that name."
    ),
]


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """Which documents."""

    source: SourceOption = None
    language: Language = None
    since: Published = None
    duplicates: Duplicates = False
    view: InView = None
    rights: RightsOption = None
    author: Annotated[str | None, Parameter(help="Only of this author, as the name is written there.")] = None
    host: Annotated[str | None, Parameter(help="Only of pages of this host.")] = None
    page_type: Annotated[
        str | None, Parameter(help="Only of such pages: article, video, gallery, live, listing, stub or other.")
    ] = None
    month: Annotated[
        str | None, Parameter(help="Only published, or else first seen, in this month (UTC): 2026-05.")
    ] = None
    day: Annotated[str | None, Parameter(help="Only published, or else first seen, on this day (UTC): 2026-05-06.")] = (
        None
    )


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
    options: Annotated[DocumentOptions, Parameter(name="*")] = DocumentOptions(),  # noqa: B008 - a frozen value
    facets: AskedFacets = None,
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
    from headwater.search.facets import facets_wanted

    wanted = facets_wanted([facets or ""])
    given = (*asdict(options).values(), wanted)
    asked = question_of(query, given, 'headwater docs search "tide tables"', "headwater docs list")
    _find(asked, options, limit, cursor, wanted, is_json=json, launch=launch)


@app.command(name="list")
def list_documents(
    *,
    options: Annotated[DocumentOptions, Parameter(name="*")] = DocumentOptions(),  # noqa: B008 - a frozen value
    limit: Hits = 20,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List the documents, the newest first: by when they were first seen."""
    _find("", options, limit, cursor, (), is_json=json, launch=launch)


def _find(
    asked: str,
    options: DocumentOptions,
    limit: int,
    cursor: str | None,
    wanted: "Sequence[Facet]",
    *,
    is_json: bool,
    launch: Launch,
) -> None:
    async def work(services: "Services") -> "SearchAnswer":
        from headwater.actions.searching import ArchiveWish, documents_wished

        wish = ArchiveWish(**asdict(options) | {"rights": tuple(options.rights or ())})
        return await documents_wished(services, asked, wish, limit, cursor, wanted)

    answer = with_services(launch, work)
    if is_json:
        from headwater.shapes.archive import account_of, document_hit_as_dict, facets_as_dict

        counted = {"facets": facets_as_dict(answer.facets)} if answer.facets else {}
        show_json({"documents": [document_hit_as_dict(one) for one in answer.found], **counted, **account_of(answer)})
        return
    for one in answer.found:
        # Without words the newest are first: by when they were seen, so that is what is shown first.
        times = times_of(one, is_by_time=not asked)
        facts = (one.about["source"] or "", *times, quantity(one.about["word_count"], "word"))
        show_hit(one, [*facts, one.hit.language, "duplicate" if one.hit.is_duplicate else ""])
    if answer.facets:
        _show_facets(answer.facets)
    tell_about(answer, "document", "documents")


def _show_facets(facets: "Facets") -> None:
    for counts in facets.counts:
        show(f"{counts.facet}: {_told(counts) or 'none'}")
    show("")
    if not facets.is_complete:
        say(f"The newest {facets.counted:,} matches were counted; there may be others.")
    if not all(counts.is_exact for counts in facets.counts):
        say("Of so many different values OpenSearch counts roughly: some may be more.")


def _told(counts: "FacetCounts") -> str:
    told = [f"{inert(shorten(one.name, WIDEST_VALUE))} ({one.count:,})" for one in counts.values]
    return ", ".join([*told, *([f"others ({counts.others:,})"] if counts.others else [])])


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
