"""/console/settings: who may call the web role, by which tokens, and what they changed."""

from collections.abc import Sequence
from datetime import UTC, datetime

import orjson
from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.audit import AuditFilter, StoredLine
from headwater.accounts.role import Role
from headwater.accounts.sessions import SessionInShort
from headwater.accounts.tokens import ApiToken
from headwater.accounts.users import User, UserChange
from headwater.actions.accounts import make_token, page_of_audit, page_of_tokens, page_of_users
from headwater.errors import HeadwaterError, UsageError
from headwater.serve.access.gate import Admin
from headwater.serve.console.components import (
    TableColumn,
    empty_state,
    filter_bar,
    link,
    notice,
    pager,
    panel,
    table,
    way_on,
)
from headwater.serve.console.forms import (
    Fields,
    FormFields,
    action_button,
    button,
    choice_field,
    confirm_form,
    error_summary,
    form,
    text_field,
)
from headwater.serve.console.logins_table import logins_table
from headwater.serve.console.places import SETTINGS, settings_tabs
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import cut, foreign, moment, state
from headwater.serve.console.visit import PageVisit, Visited, see_other
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.shared import Entered

router = APIRouter(include_in_schema=False)

USERS, TOKENS, AUDIT = f"{SETTINGS}/users", f"{SETTINGS}/tokens", f"{SETTINGS}/audit"
ROWS = 50
LONGEST_DETAILS = 400
ROLES = [(role, role) for role in Role]
MEANINGS = "viewer reads, operator changes data, admin all else."


def role_in(fields: FormFields) -> Role:
    """Raises UsageError."""
    given = fields.get("role")
    if given not in {*Role}:
        raise UsageError("There is no such role.", fix=f"One of: {', '.join(Role)}.")
    return Role(given)


@router.get(USERS)
async def users_page(caller: Admin, visit: Visited) -> HTMLResponse:
    """List the people who may log in."""
    return await visit.page(await _users(visit))


async def _users(visit: PageVisit, *errors: str, given: FormFields | None = None) -> PageBody:
    page = await page_of_users(visit.services.database, ROWS, visit.query.get("cursor") or None)
    made = [
        TableColumn[User]("Name", lambda one: link(one.name, f"{USERS}/{one.name}"), "main"),
        TableColumn[User]("Role", lambda one: Markup(str(one.role))),
        TableColumn[User](
            "State", lambda one: state("disabled", tone="paused") if one.is_disabled else state("active")
        ),
        TableColumn[User]("Last login", lambda one: moment(one.last_login_at, visit.now)),
        TableColumn[User]("Added", lambda one: moment(one.created_at, visit.now)),
        TableColumn[User]("By", lambda one: foreign(one.created_by, 60)),
    ]
    empty = empty_state(
        "Nobody has to log in: this is development mode, on this machine alone. The first user ends it."
    )
    fields = given or FormFields([])
    asked = form(
        USERS,
        visit.csrf_token,
        error_summary(*errors) if errors else "",
        text_field("name", "Name", fields.get("name"), required="required", maxlength="63"),
        choice_field("role", "Role", ROLES, fields.get("role") or Role.VIEWER, hint=MEANINGS),
        text_field("password", "Password", type="password", required="required", autocomplete="new-password"),
        element("div", button("Add", kind="primary"), class_="buttons"),
        class_="form",
    )
    listed = table(made, page.items, "Users", empty=empty, id_="users")
    pages = pager(visit.query, len(page.items), page.cursor)
    return PageBody("Users", joined(settings_tabs(USERS), listed, pages, panel("Add a user", asked)))


@router.post(USERS)
async def add_user_by_form(caller: Admin, visit: Visited, entrance: Entered, fields: Fields) -> Response:
    """Let a person log in."""
    try:
        made = await entrance.users.add(fields.get("name"), role_in(fields), fields.get("password"), caller.name)
    except HeadwaterError as error:
        return await visit.page(await _users(visit, f"{error.what} {error.fix}", given=fields), status=422)
    return see_other(USERS, f"{made.name} may log in as {made.role}.")


@router.get(f"{USERS}/{{name}}")
async def user_page(caller: Admin, visit: Visited, entrance: Entered, name: str) -> HTMLResponse:
    """Show a user, and change its role, password or state."""
    user = await entrance.users.read(name)
    found = await entrance.sessions.of_user(user.name)
    own = caller.session.id if caller.session else ""
    return await visit.page(_user(visit, user, _sessions(visit, user, found, own)))


@router.post(f"{USERS}/{{name}}/end-session")
async def end_session_by_form(caller: Admin, visit: Visited, entrance: Entered, name: str, fields: Fields) -> Response:
    """End one login of a user, or all."""
    user = await entrance.users.read(name)
    if fields.get("id"):
        await entrance.sessions.end_one(user.name, fields.get("id"))
    else:
        await entrance.sessions.end_all_of(user.name)
    told = "The login has ended." if fields.get("id") else "Every login has ended."
    return see_other(f"{USERS}/{user.name}", told)


def _sessions(visit: PageVisit, user: User, found: Sequence[SessionInShort], own: str) -> Markup:
    path = f"{USERS}/{user.name}/end-session"

    every = action_button(path, visit.csrf_token, "End all") if len(found) > 1 else Markup("")
    return panel("Logins", logins_table(visit, found, own, path), actions=every)


def _user(visit: PageVisit, user: User, below: Markup, *errors: str) -> PageBody:
    path = f"{USERS}/{user.name}"
    role = form(
        path,
        visit.csrf_token,
        error_summary(*errors) if errors else "",
        choice_field("role", "Role", ROLES, user.role, hint=MEANINGS),
        text_field("password", "New password", type="password", autocomplete="new-password", hint="Empty: as it is."),
        element("div", button("Save", kind="primary"), class_="buttons"),
        class_="form",
    )
    verb = ("enable", "Enable") if user.is_disabled else ("disable", "Disable")
    toggle = action_button(path, visit.csrf_token, verb[1], {"do": verb[0]})
    remove = action_button(f"{path}/remove", visit.csrf_token, "Remove", kind="danger")
    told = f"Added by {cut(user.created_by, 60)}. A new role or password ends the logins of a user."
    return PageBody(
        cut(user.name, 63), joined(settings_tabs(USERS), panel("Change", role), below), told, joined(toggle, remove)
    )


@router.post(f"{USERS}/{{name}}")
async def change_user_by_form(caller: Admin, visit: Visited, entrance: Entered, name: str, fields: Fields) -> Response:
    """Change a user's role or password, disable or enable it."""
    try:
        verb = fields.get("do")
        change = (
            UserChange(is_disabled=verb == "disable")
            if verb
            else UserChange(role_in(fields), password=fields.get("password") or None)
        )
        changed = await entrance.users.change(name, change, caller.name)
    except HeadwaterError as error:
        body = _user(visit, await entrance.users.read(name), Markup(""), f"{error.what} {error.fix}")
        return await visit.page(body, status=422)
    return see_other(USERS, f"{changed.name} is changed.")


@router.post(f"{USERS}/{{name}}/remove")
async def remove_user_by_form(caller: Admin, visit: Visited, entrance: Entered, name: str, fields: Fields) -> Response:
    """Remove a user with all its logins."""
    user = await entrance.users.read(name)
    if not fields.is_confirmed:
        asked = confirm_form(
            f"{USERS}/{user.name}/remove", visit.csrf_token, [], "Its logins end now. The audit log keeps its lines.",
            verb="Remove it", back=USERS,
        )  # fmt: skip
        return await visit.page(PageBody(f"Remove {cut(user.name, 63)}?", asked))
    await entrance.users.remove(user.name, caller.name)
    return see_other(USERS, f"{user.name} is removed.")


@router.get(TOKENS)
async def tokens_page(caller: Admin, visit: Visited) -> HTMLResponse:
    """List the tokens of programs."""
    return await visit.page(await _tokens(visit))


async def _tokens(visit: PageVisit, *above: Markup) -> PageBody:
    page = await page_of_tokens(visit.services.database, ROWS, visit.query.get("cursor") or None)
    made = [
        TableColumn[ApiToken]("Name", lambda one: foreign(one.name, 80), "main"),
        TableColumn[ApiToken]("Begins", lambda one: element("code", one.prefix)),
        TableColumn[ApiToken]("Role", lambda one: Markup(str(one.role))),
        TableColumn[ApiToken]("State", lambda one: _token_state(one, visit.now)),
        TableColumn[ApiToken]("Last used", lambda one: moment(one.last_used_at, visit.now)),
        TableColumn[ApiToken]("Expires", lambda one: moment(one.expires_at, visit.now)),
        TableColumn[ApiToken]("Made by", lambda one: foreign(one.created_by, 60)),
        TableColumn[ApiToken]("", lambda one: _revoking(visit, one)),
    ]
    empty = empty_state("No program has a token yet.")
    asked = form(
        TOKENS,
        visit.csrf_token,
        text_field("name", "Name", required="required", maxlength="100", hint="Of the program that uses it."),
        choice_field("role", "Role", ROLES, Role.VIEWER, hint=MEANINGS),
        text_field("expires", "Expires after", "90d", hint="Such as 90d or 12h; never, if it has to be."),
        element("div", button("Make a token", kind="primary"), class_="buttons"),
        class_="form",
    )
    listed = table(made, page.items, "Tokens", empty=empty, id_="tokens")
    pages = pager(visit.query, len(page.items), page.cursor)
    lead = "Programs send one as Authorization: Bearer. Only its hash is kept."
    return PageBody("Tokens", joined(settings_tabs(TOKENS), *above, listed, pages, panel("Make a token", asked)), lead)


def _token_state(one: ApiToken, now: datetime) -> Markup:
    if one.revoked_at:
        return state("revoked", tone="blocked")
    return state("expired", tone="paused") if one.expires_at and one.expires_at <= now else state("active")


def _revoking(visit: PageVisit, one: ApiToken) -> Markup:
    if one.revoked_at:
        return Markup("")
    return action_button(f"{TOKENS}/revoke", visit.csrf_token, "Revoke", {"id": str(one.id)}, about=cut(one.name, 80))


@router.post(TOKENS)
async def make_token_by_form(caller: Admin, visit: Visited, fields: Fields) -> Response:
    """Make a token; this answer alone tells it."""
    try:
        made = await make_token(visit.services, fields.get("name"), role_in(fields), fields.get("expires"), caller.name)
    except HeadwaterError as error:
        return await visit.page(await _tokens(visit, error_summary(f"{error.what} {error.fix}")), status=422)
    told = notice("ok", "Copy it now, it is not shown again: ", element("code", made.secret))
    answer = await visit.page(await _tokens(visit, told))
    visit.note_change()
    return answer


@router.post(f"{TOKENS}/revoke")
async def revoke_by_form(caller: Admin, visit: Visited, entrance: Entered, fields: Fields) -> Response:
    """Revoke a token: the next request that shows it is refused."""
    from uuid import UUID

    try:
        wanted = UUID(fields.get("id"))
    except ValueError:
        raise UsageError("There is no such token.", fix="Load the page again.") from None
    await entrance.tokens.revoke(wanted)
    return see_other(TOKENS, "The token is revoked.")


@router.get(AUDIT)
async def audit_page(caller: Admin, visit: Visited) -> HTMLResponse:
    """List changes that were made, and logins that were refused."""
    query = visit.query
    bar = filter_bar(
        query,
        text_field("actor", "By", query.get("actor")),
        text_field("action", "Action", query.get("action")),
        text_field("since", "Since", query.get("since"), placeholder="2026-05-01"),
    )
    try:
        wanted = AuditFilter(query.get("actor") or None, query.get("action") or None, _since(query.get("since")))
        page = await page_of_audit(visit.services.database, wanted, ROWS, query.get("cursor") or None)
    except HeadwaterError as error:
        body = joined(settings_tabs(AUDIT), bar, notice("fail", cut(error.what), " ", way_on(error.fix)))
        return await visit.page(PageBody("Audit log", body), status=422)
    made = [
        TableColumn[StoredLine]("When", lambda one: moment(one.at, visit.now), "main"),
        TableColumn[StoredLine]("By", lambda one: foreign(one.actor, 80)),
        TableColumn[StoredLine]("Action", lambda one: foreign(one.action.replace("_", " "), 60)),
        TableColumn[StoredLine]("Where", lambda one: foreign(one.target, 120)),
        TableColumn[StoredLine]("Answer", lambda one: Markup(str(one.status)), "number"),
        TableColumn[StoredLine]("From", lambda one: foreign(one.address, 60)),
        TableColumn[StoredLine]("Asked for", lambda one: foreign(_details(one), LONGEST_DETAILS)),
    ]
    empty = empty_state("No line matches." if query.values else "Nothing was changed yet.")
    listed = table(made, page.items, "Audit log", empty=empty, id_="audit")
    main = joined(settings_tabs(AUDIT), bar, listed, pager(query, len(page.items), page.cursor))
    return await visit.page(PageBody("Audit log", main, "Every change through the web role, without secrets."))


def _details(one: StoredLine) -> str:
    return orjson.dumps(one.details).decode() if one.details else ""


def _since(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment_ = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError("This is no day.", fix="Write it as 2026-05-01.") from None
    return moment_ if moment_.tzinfo else moment_.replace(tzinfo=UTC)
