"""/console/frontier/url: one URL from discovery to each sink, why it waits, and what a person can do with it."""

import re
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.errors import UrlRejected
from headwater.frontier.control import kill, raise_now, remove, retry_now
from headwater.frontier.explain import HISTORY as MOST_SHOWN
from headwater.frontier.explain import EntryPast
from headwater.net.identity import identity_of
from headwater.phrases import spelt_out
from headwater.reports.pages import PageStory, asked_besides, story_of
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.console.components import columns, facts, filter_bar, link, notice, panel, way_on
from headwater.serve.console.forms import Fields, action_button, confirm_form, text_field
from headwater.serve.console.frontier_places import (
    KEPT,
    KILLED,
    PATH,
    WAITING,
    because_field,
    frontier_tabs,
    story_path,
)
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import cut, due, foreign, foreign_link, milliseconds, moment, state
from headwater.serve.console.visit import PageQuery, PageVisit, Visited, see_other
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.topics import Topic
from headwater.urls.canonical import canonicalise

router = APIRouter(include_in_schema=False)

# The sentence that introduces a command.
CALL = re.compile(r"[.;] [^.;]{1,40}$")


@router.get(f"{PATH}/url")
async def url_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """Tell the way of one URL from discovery to each sink, and what is next."""
    asked = visit.query.get("url")
    if not asked:
        return await visit.page(
            PageBody(
                "A URL",
                joined(frontier_tabs(visit, f"{PATH}/url"), _asking("")),
                "Its way from discovery to each sink.",
            )
        )
    try:
        url = canonicalise(asked if "://" in asked else f"https://{asked}")
    except UrlRejected as error:
        body = joined(notice("fail", cut(error.what), " ", way_on(error.fix)), _asking(asked))
        return await visit.page(PageBody("A URL", body), status=422)
    agent = identity_of(visit.services.settings.fetch).user_agent
    story = await story_of(visit.services.database, url, agent)
    actions = _url_actions(visit, story) if visit.may(Role.OPERATOR) else Markup("")
    main = joined(
        frontier_tabs(visit, f"{PATH}/url"),
        _asking(asked),
        columns(_now(visit, story), _found(story)),
        _timeline(visit, story),
    )
    return await visit.page(PageBody("A URL", main, cut(story.url, 200), actions, (Topic.FRONTIER, Topic.CHANGES)))


def _asking(url: str) -> Markup:
    query = PageQuery(f"{PATH}/url", {"url": url} if url else {})
    return filter_bar(query, text_field("url", "URL", cut(url, 2_083), type="url", required="required"), verb="Explain")


def _now(visit: PageVisit, story: PageStory) -> Markup:
    ahead = f"{story.ahead_on_host:,} before it on its host" if story.ahead_on_host else "the first of its host"
    told = [
        ("Status", state(story.status)),
        ("Why", foreign(without_command(story.why), 600)),
        ("Next", foreign(without_command(story.next), 600)),
        ("At", due(story.next_at, visit.now)),
        ("Document", _document(story)),
        *([("Vacancy", foreign(story.vacancy, 600))] if story.vacancy else []),
        *([("In line", Markup(ahead))] if story.status in WAITING else []),
    ]
    return panel("Now", facts(told), id_="now")


def without_command(told: str) -> str:
    """A sentence for a terminal, without the command that it ends with: here a button does it. Pure."""
    before, command, _ = told.partition(": headwater ")
    return CALL.sub("", before) if command else told


def _document(story: PageStory) -> Markup:
    told = foreign(without_command(story.document), 600)
    if not story.document.startswith("kept"):
        return told
    return joined(told, ": ", link("read it", f"/console/documents/{canonicalise(story.url).url_hash.hex()}"))


def _found(story: PageStory) -> Markup:
    if not story.is_known:
        return panel("Where it stands", element("p", "It is not in the frontier."), foreign_link(story.url))
    told = facts([
        ("Page", foreign_link(story.url)),
        ("Source", link(foreign(story.source, 120), f"/console/sources?text={quote(story.source, safe='')}")),
        ("Found", foreign(story.found_by, 400)),
        ("Priority", foreign(story.priority_why, 300)),
        ("Host", link("its pace and robots.txt", f"/console/hosts/{quote(canonicalise(story.url).host, safe='')}")),
    ])  # fmt: skip
    return panel("Where it came from", told)


def _timeline(visit: PageVisit, story: PageStory) -> Markup:
    """From discovery to each sink, the oldest first, and what is next."""
    if not story.is_known:
        return Markup("")
    steps = [
        _step(moment(story.found_at, visit.now), "Found", foreign(story.found_by, 400)),
        _step("", "Queued", joined("with priority ", foreign(story.priority_why, 300))),
        *(_asked_for(visit, one) for one in reversed(story.history)),
        _step("", "Document", _document(story)),
        *([_step("", "Vacancy", foreign(without_command(story.vacancy), 600))] if story.vacancy else []),
        *(_step("", "Sinks", foreign(one, 400)) for one in story.delivery),
        _step(
            due(story.next_at, visit.now) if story.next_at else "", "Next", foreign(without_command(story.next), 600)
        ),
    ]
    note = f"its last {MOST_SHOWN} requests" if len(story.history) >= MOST_SHOWN else "all that is known"
    return panel("Timeline", element("ol", *steps, class_="timeline"), note=note, id_="timeline")


def _step(at: str, name: str, told: str) -> Markup:
    return element("li", element("span", at, class_="at"), element("strong", name), element("div", told))


def _asked_for(visit: PageVisit, one: EntryPast) -> Markup:
    besides = asked_besides(one)
    told = [
        *([joined("for ", foreign(besides, 60))] if besides else []),
        state(one.verdict),
        f"HTTP {one.status}" if one.status else "no answer",
        *([joined("in ", milliseconds(one.duration_ms))] if one.duration_ms is not None else []),
        *([foreign(spelt_out(one.reason), 200)] if one.reason else []),
        joined("by ", foreign(one.owner, 60)),
    ]
    return _step(moment(one.at, visit.now), "Request", element("div", *told, class_="parts"))


def _url_actions(visit: PageVisit, story: PageStory) -> Markup:
    if not story.is_known:
        source = {"urls": story.url, "do": "add"}
        return action_button(f"{PATH}/add", visit.csrf_token, "Queue it", source, kind="primary")
    sent = {"url": story.url}
    return joined(
        action_button(f"{PATH}/url/raise", visit.csrf_token, "Fetch next", sent, kind="primary"),
        action_button(f"{PATH}/url/retry", visit.csrf_token, "Fetch again", sent),
        action_button(f"{PATH}/url/kill", visit.csrf_token, "Kill", sent, kind="danger"),
        action_button(f"{PATH}/url/remove", visit.csrf_token, "Forget", sent, kind="danger"),
    )


@router.post(f"{PATH}/url/retry")
async def fetch_url_again(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Queue one URL again: its host's pace holds all the same."""
    url = canonicalise(fields.get("url"))
    await retry_now(visit.services.database, url)
    return see_other(story_path(url.url), "It waits in line again. The pace of its host holds all the same.")


@router.post(f"{PATH}/url/raise")
async def fetch_url_next(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Queue one URL as the next of its host."""
    url = canonicalise(fields.get("url"))
    await raise_now(visit.services.database, url)
    return see_other(story_path(url.url), "It is the next of its host, whose pace holds all the same.")


@router.post(f"{PATH}/url/kill")
async def kill_url_by_form(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Never fetch one URL again."""
    url = canonicalise(fields.get("url"))
    if not fields.is_confirmed:
        asked = confirm_form(
            f"{PATH}/url/kill", visit.csrf_token, fields.again(), cut(url.url, 200), KILLED, KEPT,
            verb="Kill it", back=story_path(url.url), asks=because_field(),
        )  # fmt: skip
        return await visit.page(PageBody("Kill this URL?", asked))
    await kill(visit.services.database, url, caller.name, fields.get("because"))
    return see_other(story_path(url.url), "It is fetched never again, until somebody revives it.")


@router.post(f"{PATH}/url/remove")
async def forget_url_by_form(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Forget one URL."""
    url = canonicalise(fields.get("url"))
    if not fields.is_confirmed:
        fact = "If a channel lists it again, it is new and fetched again."
        asked = confirm_form(
            f"{PATH}/url/remove", visit.csrf_token, fields.again(), cut(url.url, 200), fact,
            verb="Forget it", back=story_path(url.url),
        )  # fmt: skip
        return await visit.page(PageBody("Forget this URL?", asked))
    await remove(visit.services.database, url)
    return see_other(PATH, "The URL is forgotten.")
