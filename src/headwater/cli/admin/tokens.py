"""Tokens of programs."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from headwater.cli.admin.users import RoleName
from headwater.cli.launch import AsJson, Cursor, Launch, Launched, Limit, with_services
from headwater.cli.output import say, show, show_json
from headwater.cli.pages import PageTable, show_page
from headwater.cli.words import relative

if TYPE_CHECKING:
    from datetime import datetime

    from headwater.accounts.tokens import ApiToken
    from headwater.reports.paging import ListPage
    from headwater.services import Services

app = App(name="token", help="Tokens of programs: make, list, revoke.")


@app.command(name="create")
def create(
    name: Annotated[str, Parameter(help="What the token shall be called, such as the program's name.")],
    *,
    role: Annotated[RoleName, Parameter(help="viewer reads, operator changes data, admin all else.")] = "viewer",
    expires: Annotated[str, Parameter(help="After how long it ends: 90d, 8w, 1y, or never.")] = "90d",
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Make a token and print it, once: only its hash is kept."""
    from headwater.accounts.role import Role
    from headwater.actions.accounts import create_token
    from headwater.shapes.accounts import new_token_as_dict

    made = with_services(launch, lambda services: create_token(services, name, Role(role), expires))
    if json:
        show_json(new_token_as_dict(made))
        return
    until = f"until {made.token.expires_at:%Y-%m-%d}" if made.token.expires_at else "until it is revoked"
    say(f"The token {name} is {role} {until}. Send it as `Authorization: Bearer …`; it is shown only now:")
    show(made.secret)


@app.command(name="list")
def list_all(
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List the tokens, newest first.

    Parameters
    ----------
    limit
        Tokens per page.
    """
    from headwater.clock import SystemClock
    from headwater.shapes.accounts import token_as_dict

    async def work(services: "Services") -> "ListPage[ApiToken]":
        from headwater.actions.accounts import page_of_tokens

        return await page_of_tokens(services.database, limit, cursor)

    now = SystemClock().now()
    show_page(
        with_services(launch, work),
        PageTable(
            "tokens",
            token_as_dict,
            ("name", "begins with", "role", "ends", "last used"),
            lambda one: (one.name, f"{one.prefix}…", one.role, _end_of(one, now), relative(one.last_used_at, now)),
            if_empty="There is no token yet. Make one: headwater admin token create dashboard",
            whole=("name",),
        ),
        as_json=json,
    )


def _end_of(one: "ApiToken", now: "datetime") -> str:
    if one.revoked_at:
        return "revoked"
    return relative(one.expires_at, now)


@app.command(name="revoke")
def revoke(
    name: Annotated[str, Parameter(help="Its name or its id; never the token itself.")],
    *,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Revoke a token: the next request that shows it is refused."""
    from headwater.actions.accounts import revoke_token

    revoked = with_services(launch, lambda services: revoke_token(services, name))
    show(f"The token {revoked.name} is revoked.")
