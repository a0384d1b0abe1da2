"""`headwater explain`: why now, why not, when next, what happened."""

from typing import TYPE_CHECKING

from headwater.cli.launch import AsJson, Launch, Launched, with_services
from headwater.cli.output import show, show_json, show_table
from headwater.cli.sources.group import show_source_story, what_next
from headwater.cli.words import in_words, inert

if TYPE_CHECKING:
    from headwater.reports.explaining import SourceStory
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
    from headwater.reports.explaining import SourceStory
    from headwater.reports.explaining import explain as explain_named

    async def work(services: "Services") -> "PageStory | SourceStory":
        from headwater.net.identity import identity_of

        return await explain_named(services.database, what, identity_of(services.settings.fetch).user_agent)

    found = with_services(launch, work)
    if isinstance(found, SourceStory):
        return explain_source(found, is_json=json)
    return explain_page(found, is_json=json)


def explain_source(found: "SourceStory", *, is_json: bool) -> int:
    show_source_story(found, is_json=is_json)
    if not is_json:
        show(f"Next: {inert(what_next(found))}")
    return 0


def explain_page(found: "PageStory", *, is_json: bool) -> int:
    if is_json:
        from headwater.reports.pages import story_as_dict

        show_json(story_as_dict(found))
    else:
        show_story(found)
    return 0 if found.is_known else NOT_FOUND


def show_story(found: "PageStory") -> None:
    from headwater.reports.pages import asked_besides

    show(inert(found.url))
    show(f"  {found.status}: {in_words(found.why)}")
    show(f"  document: {inert(found.document)}")
    if found.vacancy:
        show(f"  vacancy: {inert(found.vacancy)}")
    for line in found.delivery:
        show(f"  delivery: {inert(line)}")
    if found.source:
        show(f"  source {inert(found.source)}")
        show(f"  priority {found.priority_why}")
    if found.found_by:
        at = f"{found.found_at:%Y-%m-%d %H:%M:%S %Z}, " if found.found_at else ""
        show(f"  found {at}{inert(found.found_by)}")
    if found.history:
        show_table(
            ("when", "verdict", "status", "took", "asked for", "reason"),
            [
                (
                    f"{one.at:%Y-%m-%d %H:%M:%S}",
                    in_words(one.verdict),
                    str(one.status or ""),
                    "" if one.duration_ms is None else f"{one.duration_ms:,} ms" if one.duration_ms else "< 1 ms",
                    inert(asked_besides(one)) or "the page",
                    in_words(one.reason or ""),
                )
                for one in found.history
            ],
        )
    show(f"Next: {inert(found.next)}")
