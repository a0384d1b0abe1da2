"""/crawler: the page for people whose sites we visit; and what they asked, for those who decide it."""

from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.identity import known_addresses
from headwater.actions.takedowns import grant_request, reach_in_words, refuse_request
from headwater.errors import Busy, HeadwaterError, UsageError
from headwater.ingest.taking_down import reach_of
from headwater.net.identity import SITE_OWNERS_PLACE, Identity, identity_of
from headwater.net.signing import DIRECTORY_PLACE
from headwater.politeness.takedown import parse_takedown
from headwater.politeness.takedown_requests import (
    LONGEST_CONTACT,
    LONGEST_PLACE,
    LONGEST_REASON,
    MOST_OPEN,
    TakedownRequest,
    ask_takedown,
    open_requests,
)
from headwater.serve.access.gate import Operator, Viewer, open_to_all
from headwater.serve.access.visits import visit_of
from headwater.serve.api.takedowns import begin_takedown
from headwater.serve.console.components import TableColumn, empty_state, table
from headwater.serve.console.forms import (
    Fields,
    action_button,
    button,
    confirm_form,
    error_summary,
    form,
    text_area,
    text_field,
)
from headwater.serve.console.shell import PAGE_HEADERS, PageBody, brand, document
from headwater.serve.console.shown import cut, duration, foreign, foreign_lines, moment
from headwater.serve.console.visit import PageVisit, Visited, see_other, theme_of
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.shared import Installed, LongWork, parts_of
from headwater.services import Services

router = APIRouter(include_in_schema=False)

PLACE, REQUESTS = SITE_OWNERS_PLACE, "/console/requests"
DECIDE = f"{REQUESTS}/decide"
ASKED = "Thank you. A person looks at it, and writes to you if something is unclear."


@router.get(PLACE, dependencies=[open_to_all])
async def site_owners_page(services: Installed, request: Request) -> HTMLResponse:
    """Who we are, what we fetch, how to slow us down or keep us out. Public under a public address only."""
    _require_public(services, request)
    return _answer(services, request, ask_form())


@router.post(PLACE, dependencies=[open_to_all])
async def ask_to_be_left_alone(services: Installed, request: Request, fields: Fields) -> HTMLResponse:
    """Keep what a site owner asks for; a person decides it."""
    _require_public(services, request)
    # It has a row of its own, which is forgotten in time; the audit log would keep who asked.
    visit_of(request).only_reads = True
    place, contact, reason = (fields.get(name) for name in ("place", "contact", "reason"))
    try:
        name = await ask_takedown(services.database, place, contact, reason, visit_of(request).address)
    except (UsageError, Busy) as error:
        told = ask_form(place, contact, reason, f"{error.what} {error.fix}".strip())
        return _answer(services, request, told, 429 if isinstance(error, Busy) else 422)
    thanks = element(
        "div", element("p", ASKED), element("p", "Asked for: ", foreign(name)), class_="banner said", role="status"
    )
    return _answer(services, request, thanks)


def _require_public(services: Services, request: Request) -> None:
    """Without a public address it is for those alone who may look at the console."""
    if not services.settings.web.public_url:
        visit_of(request).require_caller()


def ask_form(place: str = "", contact: str = "", reason: str = "", wrong: str = "") -> Markup:
    """Pure."""
    return joined(
        error_summary(wrong) if wrong else "",
        form(
            PLACE,
            "",
            text_field(
                "place",
                "Your site, or the part of it",
                cut(place, LONGEST_PLACE),
                required="required",
                maxlength=str(LONGEST_PLACE),
                hint="example.org, or https://example.org/members",
            ),
            text_field(
                "contact",
                "Your mail address",
                cut(contact, LONGEST_CONTACT),
                type="email",
                required="required",
                maxlength=str(LONGEST_CONTACT),
                autocomplete="email",
                hint="To ask you if something is unclear; forgotten 90 days after the answer.",
            ),
            text_area("reason", "What you would like", cut(reason, LONGEST_REASON), rows=4),
            element("div", button("Send", kind="primary"), class_="buttons"),
            class_="form",
        ),
    )


def about(identity: Identity, delay: timedelta, addresses: Sequence[str] = (), *, is_signed: bool = False) -> Markup:
    """Pure. `addresses`: from which requests leave, where a person has said so."""
    token = identity.product_token
    rules = f"User-agent: {token}\nDisallow: /private/\nCrawl-delay: 10"
    return joined(
        element(
            "p",
            "This program reads public pages of news, vacancies and documentation: "
            "it polls their feeds and sitemaps, and fetches what they list.",
        ),
        element("h2", "How to know it"),
        element("p", "Each request says who makes it:"),
        element("pre", element("code", f"User-Agent: {identity.user_agent}"), tabindex="0"),
        _proofs(addresses, is_signed=is_signed),
        _contact(identity.contact),
        element("h2", "What it does"),
        element(
            "ul",
            element("li", "It asks for robots.txt first, obeys it by RFC 9309, and stays away while it cannot be had."),
            element(
                "li",
                "It usually makes one request at a time to a host, and begins the next ",
                duration(delay),
                " later at the earliest; later where robots.txt, Retry-After or slow answers ask for it.",
            ),
            element(
                "li",
                "It asks for a feed the more often the more often it changes, and says what it knows "
                "(If-None-Match, If-Modified-Since), so that an answer may be empty.",
            ),
            element("li", "It sends no form, keeps no cookies, and passes no login and no paywall."),
            class_="bullets",
        ),
        element("h2", "How to slow it down, or keep it out"),
        element("p", "By robots.txt; it is looked at again within a day:"),
        element("pre", element("code", rules), tabindex="0"),
        element(
            "p",
            "By an answer: 429 or 503 with Retry-After is obeyed. By a page: ",
            element("code", "noindex"),
            " in its robots meta or X-Robots-Tag takes it out of the archive.",
        ),
        element("h2", "Or ask"),
        element("p", "To be left alone for good, and to have what was stored withdrawn:"),
    )


def _proofs(addresses: Sequence[str], *, is_signed: bool) -> Markup:
    """What nobody else can send."""
    signed = element(
        "p",
        "Requests over https are signed by Web Bot Auth (RFC 9421, ed25519): ",
        element("a", "our public keys", href=DIRECTORY_PLACE),
        ". One without a signature of theirs is not ours.",
    )
    comes_from = element("p", "It comes from ", element("code", ", ".join(addresses)), ".")
    asked = element(
        "p",
        "Not sure? Tell us the time of a request with its zone, its page and the address that it came from: "
        "our log says whether it was ours.",
    )
    return joined(signed if is_signed else "", comes_from if addresses else "", asked)


def _contact(contact: str) -> Markup:
    if not contact:
        return Markup("")
    if urlsplit(contact).scheme in ("http", "https"):
        return element("p", "Whom to ask: ", element("a", cut(contact, 200), href=contact))
    address = contact.removeprefix("mailto:")
    return element("p", "Whom to ask: ", element("a", cut(address, 200), href=f"mailto:{address}"))


def _answer(services: Services, request: Request, asking: Markup, status: int = 200) -> HTMLResponse:
    settings = services.settings
    main = element(
        "main",
        brand(),
        element("h1", "About this crawler"),
        about(
            identity_of(settings.fetch, settings.web.public_url),
            settings.politeness.delay,
            known_addresses(settings),
            is_signed=settings.identity.sign and parts_of(request).published_keys.now() is not None,
        ),
        asking,
        id="content",
    )
    made = document("About this crawler", main, theme=theme_of(request), class_="prose")
    return HTMLResponse(made, status, dict(PAGE_HEADERS))


@router.get(REQUESTS)
async def requests_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """What site owners asked for and nobody has decided."""
    found = await open_requests(visit.services.database, MOST_OPEN)
    rows = [
        TableColumn[TakedownRequest]("Place", lambda one: foreign(one.place, 200), "main"),
        TableColumn[TakedownRequest]("Asked", lambda one: moment(one.asked_at, visit.now), "tight"),
        TableColumn[TakedownRequest]("By", lambda one: foreign(one.contact, 100)),
        TableColumn[TakedownRequest]("Why", lambda one: foreign_lines(one.reason, LONGEST_REASON)),
        TableColumn[TakedownRequest]("Decide", lambda one: _decisions(one, visit)),
    ]
    listed = table(
        rows, found, "Requests of site owners", empty=empty_state("No site owner waits for an answer."), id_="requests"
    )
    return await visit.page(
        PageBody("Requests of site owners", listed, "Asked for at /crawler. Look whether it is theirs to ask.")
    )


def _decisions(one: TakedownRequest, visit: PageVisit) -> Markup:
    if not visit.may(Role.OPERATOR):
        return Markup("")
    about_place = cut(one.place, 60)
    grant = action_button(
        DECIDE,
        visit.csrf_token,
        "Take down",
        {"id": str(one.id), "is_granted": "yes"},
        kind="danger",
        about=about_place,
    )
    refuse = action_button(
        DECIDE, visit.csrf_token, "Refuse", {"id": str(one.id), "is_granted": "no"}, about=about_place
    )
    return element("div", grant, refuse, class_="buttons")


@router.post(DECIDE)
async def decide_takedown(caller: Operator, visit: Visited, fields: Fields, work: LongWork) -> Response:
    """Grant or refuse; what is granted is taken down at once."""
    is_granted = fields.get("is_granted") == "yes"
    try:
        id_ = UUID(fields.get("id"))
    except ValueError:
        raise UsageError("This is no request.") from None
    if is_granted and not fields.is_confirmed:
        return await _ask_again(visit, id_, fields)
    if not is_granted:
        decided = await refuse_request(visit.services, id_, caller.name)
        return see_other(
            REQUESTS, f"Refused: {cut(decided.place, 120)}. Nobody was told; write to {cut(decided.contact, 120)}."
        )
    decided, takedown, reason = await grant_request(visit.services, id_, caller.name)
    await begin_takedown(visit.services, work, takedown, reason, caller.name)
    return see_other(REQUESTS, f"{cut(decided.place, 120)} is left alone from now on, and withdrawn.")


async def _reach(visit: PageVisit, place: str) -> str:
    """Nothing of a place that cannot be taken down: granting it says why."""
    try:
        return f": {reach_in_words(await reach_of(visit.services.database, parse_takedown(place)))}"
    except HeadwaterError:
        return ""


async def _ask_again(visit: PageVisit, id_: UUID, fields: Fields) -> HTMLResponse:
    wanted = next((one for one in await open_requests(visit.services.database, MOST_OPEN) if one.id == id_), None)
    place = cut(wanted.place, 200) if wanted else "It"
    reach = await _reach(visit, wanted.place) if wanted else ""
    asked = confirm_form(
        DECIDE,
        visit.csrf_token,
        fields.again(),
        f"{place} is never visited again.",
        f"What is stored of it is withdrawn, here and in every sink{reach}.",
        verb="Take it down",
        back=REQUESTS,
    )
    return await visit.page(PageBody("Take it down?", asked))
