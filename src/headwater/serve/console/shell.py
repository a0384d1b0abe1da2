"""What every page of the console stands in: head, navigation, totals, banners, and headers of its answer. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from headwater import __version__
from headwater.accounts.role import Role
from headwater.frontier.pause import CrawlPause
from headwater.reports.totals import StripTotals
from headwater.serve.access.caller import Caller, Proof
from headwater.serve.console.icons import icon
from headwater.serve.console.shown import cut, foreign, moment
from headwater.serve.console.strip import strip
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.pages.static import address_of_file
from headwater.serve.topics import Topic

# Scripts and styles are files of ours; a page holds none. Referrers are sent to ourselves only: without one a browser
# does not say which page sends a form.
PAGE_HEADERS: Mapping[str, str] = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'",
    "referrer-policy": "same-origin",
}
NAVIGATION: Sequence[tuple[str, str, str]] = (
    ("Overview", "/console", "o"),
    ("Sources", "/console/sources", "s"),
    ("Crawl", "/console/crawl", "c"),
    ("Frontier", "/console/frontier", "f"),
    ("Hosts", "/console/hosts", "h"),
    ("Documents", "/console/documents", "d"),
    ("Jobs", "/console/jobs", "j"),
    ("Settings", "/console/settings", "e"),
)
ACCOUNT = "/console/account"
NOTHING = Markup("")


@dataclass(frozen=True, slots=True)
class PageBody:
    """What is of one page. `topics`: what the stream tells of that makes parts of class `live` be asked for anew.

    `actions` stand beside the title, `lead` below it; `banners` are sentences of the page's own.
    """

    title: str
    main: Markup
    lead: str = ""
    actions: Markup = NOTHING
    topics: tuple[Topic, ...] = ()
    banners: tuple[Markup, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class PageFrame:
    """What is of the visit."""

    path: str
    # The path with its filters and its place: who changes something comes back to what was looked at.
    address: str
    totals: StripTotals
    pause: CrawlPause | None
    now: datetime
    caller: Caller
    csrf_token: str
    theme: str
    said: str


def page_in(frame: PageFrame, body: PageBody) -> Markup:
    return document(
        body.title,
        element("a", "Skip to the content", href="#content", class_="skip"),
        _top(frame),
        element("div", strip(frame.totals), class_="strip-frame", role="region", aria_label="Totals"),
        _banners(frame, body),
        element("main", heading(body), body.main, id="content"),
        footer(),
        _keys(),
        theme=frame.theme,
        topics=body.topics,
    )


def document(title: str, *inside: Markup, theme: str = "", topics: Sequence[Topic] = (), class_: str = "") -> Markup:
    """A whole page. `title` may be a text of others."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content=theme or "light dark"),
        element("title", f"{cut(title, 80)} · Headwater"),
        element("link", rel="icon", href=address_of_file("mark.svg"), type="image/svg+xml"),
        element("link", rel="stylesheet", href=address_of_file("console.css")),
        element("script", src=address_of_file("console.js"), defer="defer"),
    )
    told = ",".join(topics)
    body = element("body", *inside, data_topics=told, class_=class_)
    return joined(Markup("<!doctype html>"), element("html", head, body, lang="en", data_theme=theme))


def heading(body: PageBody) -> Markup:
    title = element("div", element("h1", body.title), element("p", body.lead, class_="lead") if body.lead else "")
    actions = element("div", body.actions, class_="actions") if body.actions else ""
    return element("header", title, actions, class_="title")


def brand() -> Markup:
    return element("a", icon("mark"), "headwater", href="/console", class_="brand")


def footer() -> Markup:
    links = joined(element("a", "API", href="/api/docs"), " · ", element("a", "About the crawler", href="/crawler"))
    return element("footer", element("span", f"Headwater {__version__}"), element("span", links))


def is_current(path: str, entry: str) -> bool:
    return path == entry or (entry != "/console" and path.startswith(f"{entry}/"))


def _top(frame: PageFrame) -> Markup:
    entries = [
        element(
            "li",
            element(
                "a",
                name,
                href=path,
                data_key=f"g {key}",
                aria_current="page" if is_current(frame.path, path) else "",
            ),
        )
        for name, path, key in NAVIGATION
    ]
    return element(
        "header",
        brand(),
        element("nav", element("ul", *entries), aria_label="Pages"),
        element("div", _live_switch(), _theme_switch(frame), _me(frame), class_="tools"),
        class_="top",
    )


def _live_switch() -> Markup:
    """Of use with the script only, which shows it."""
    told = element("span", "Live", class_="word")
    return element(
        "button",
        icon("live"),
        told,
        type="button",
        id="live-switch",
        class_="quiet",
        hidden="hidden",
        aria_pressed="true",
    )


def _theme_switch(frame: PageFrame) -> Markup:
    """The stylesheet shows the one that is not on: where nobody chose, it is the system's that is on."""
    buttons = [
        element(
            "button",
            icon(sign),
            element("span", f"Use {theme} colours", class_="unseen"),
            class_=f"quiet to-{theme}",
            name="theme",
            value=theme,
        )
        for theme, sign in (("light", "sun"), ("dark", "moon"))
    ]
    return element(
        "form",
        csrf_field(frame.csrf_token),
        back_field(frame.address),
        *buttons,
        method="post",
        action="/console/theme",
    )


def _me(frame: PageFrame) -> Markup:
    if frame.caller.session is None:
        told = "no login" if frame.caller.proof is Proof.DEVELOPMENT else cut(frame.caller.name, 40)
        title = f"{cut(frame.caller.name, 60)}, {frame.caller.role}"
        return element("a", told, href=ACCOUNT, class_="me", title=title)
    leave = element("button", "Log out", class_="quiet")
    return element(
        "form",
        csrf_field(frame.csrf_token),
        element("a", cut(frame.caller.name, 40), href=ACCOUNT, class_="me", title=str(frame.caller.role)),
        leave,
        method="post",
        action="/logout",
    )


def csrf_field(token: str) -> Markup:
    return element("input", type="hidden", name="csrf_token", value=token) if token else NOTHING


def back_field(path: str) -> Markup:
    return element("input", type="hidden", name="next", value=path)


def _banners(frame: PageFrame, body: PageBody) -> Markup:
    """`status` says them to readers of screens when they come."""
    told = [*body.banners]
    if frame.said:
        told.insert(0, element("p", icon("ok"), element("span", cut(frame.said, 600)), class_="banner said"))
    if frame.pause:
        told.append(_pause_banner(frame.pause, frame))
    return element("div", *told, class_="banners", role="status")


def _pause_banner(pause: CrawlPause, frame: PageFrame) -> Markup:
    why = joined(": ", foreign(pause.reason, 200)) if pause.reason else ""
    told = joined(f"{cut(pause.set_by, 60)} paused everything ", moment(pause.since, frame.now), why, ".")
    resume = element(
        "form",
        csrf_field(frame.csrf_token),
        back_field(frame.address),
        element("button", "Resume"),
        method="post",
        action="/console/crawl/resume",
    )
    may = frame.caller.role.includes(Role.OPERATOR)
    return element("div", icon("paused"), element("span", told), resume if may else "", class_="banner warn")


def _keys() -> Markup:
    """Shown by the script when somebody types a question mark."""
    known = [(f"g {key}", f"Go to {name}") for name, _, key in NAVIGATION]
    known += [("/", "Search or filter"), ("j k", "Next, previous row"), ("x", "Choose the row"), ("Enter", "Open it")]
    rows = [joined(element("dt", element("kbd", key)), element("dd", told)) for key, told in known]
    close = element("form", element("button", "Close"), method="dialog")
    return element("dialog", element("h2", "Keys"), element("dl", *rows), close, id="keys", aria_label="Keys")
