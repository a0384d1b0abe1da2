"""`headwater explain`: why now, why not, when next, what happened."""

from typing import TYPE_CHECKING

from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import show, show_json, show_table
from headwater.cli.serving import with_services
from headwater.cli.sources.group import show_next, show_source
from headwater.cli.words import in_words, inert
from headwater.errors import NotFound

if TYPE_CHECKING:
    from headwater.reports.pages import PageStory
    from headwater.services import Services

NOT_FOUND = 4


def explain(what: str, *, json: AsJson = False, launch: Launched = Launch()) -> int:  # noqa: B008
    """Say what became of a URL or source: why it is not fetched now, why there is no document, what happens next.

    Parameters
    ----------
    what
        A URL in any spelling, or a source by its id, address or name.
    """

    async def work(services: "Services") -> "PageStory | None":
        from headwater.errors import UrlRejected
        from headwater.reports.pages import story_of
        from headwater.sources.store import find_source
        from headwater.urls.canonical import canonicalise

        story, nothing = None, unknown(what)
        try:
            story = await story_of(services.database, canonicalise(what))
        except UrlRejected as refused:
            nothing = refused if "://" in what else nothing  # type: ignore[assignment]
        if story is not None and story.is_known:
            return story
        # Perhaps a source was meant; if not, what is known of the URL is worth more.
        try:
            await find_source(services.database, what)
        except NotFound:
            if story is None:
                raise nothing from None
            return story
        return None

    found = with_services(launch, work)
    if found is None:
        show_source(what, json=json, launch=launch)
        if not json:
            show_next(what, launch)
        return 0
    if json:
        from headwater.reports.pages import told_of

        show_json(told_of(found))
    else:
        show_story(found)
    return 0 if found.is_known else NOT_FOUND


def show_story(found: "PageStory") -> None:
    show(inert(found.url))
    show(f"  {found.status}: {in_words(found.why)}")
    show(f"  document: {inert(found.document)}")
    if found.vacancy:
        show(f"  vacancy: {inert(found.vacancy)}")
    if found.source:
        show(f"  source {inert(found.source)}, priority {found.priority}")
    if found.found_by:
        show(f"  found {inert(found.found_by)}")
    if found.history:
        show_table(
            ("when", "verdict", "status", "took", "reason"),
            [
                (
                    f"{one.at:%Y-%m-%d %H:%M:%S}",
                    in_words(one.verdict),
                    str(one.status or ""),
                    f"{one.duration_ms:,} ms" if one.duration_ms else "",
                    in_words(one.reason or ""),
                )
                for one in found.history
            ],
        )
    show(f"Next: {inert(found.next)}")


def unknown(what: str) -> NotFound:
    return NotFound(
        f"{what!r} is neither a URL nor a source.",
        fix="A URL begins with https://; `headwater sources list` shows the sources there are.",
    )
