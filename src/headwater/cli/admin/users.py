"""People who log in to the web role."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from headwater.cli.admin.typed import typed_password
from headwater.cli.launch import AsJson, Cursor, Launch, Launched, Limit, with_services
from headwater.cli.output import say, show, show_json, show_table
from headwater.cli.pages import PageTable, show_page
from headwater.cli.words import relative

if TYPE_CHECKING:
    from headwater.accounts.sessions import SessionInShort
    from headwater.accounts.users import User
    from headwater.reports.paging import ListPage
    from headwater.services import Services

RoleName = Literal["viewer", "operator", "admin"]
UserName = Annotated[str, Parameter(help="The user's name.")]
PasswordFile = Annotated[
    Path | None,
    Parameter(
        allow_leading_hyphen=True,
        help="A file with the password in its first line; - is standard input. Without it you are asked.",
    ),
]


def create(
    name: UserName,
    *,
    role: Annotated[RoleName, Parameter(help="viewer reads, operator changes data, admin all else.")] = "admin",
    password_file: PasswordFile = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Let a person log in to the web role. From the first one on everybody has to show who they are."""
    from headwater.accounts.role import Role
    from headwater.actions.accounts import create_user
    from headwater.shapes.accounts import user_as_dict

    password = typed_password(password_file)
    made = with_services(launch, lambda services: create_user(services, name, Role(role), password))
    if json:
        show_json(user_as_dict(made))
        return
    show(f"{made.name} may log in as {made.role}.")


def edit(
    name: UserName,
    *,
    role: Annotated[RoleName | None, Parameter(help="Another role; its logins end.")] = None,
    disable: Annotated[
        bool | None, Parameter(negative="--enable", help="Whether it may not log in; its logins end.")
    ] = None,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Change the role of a user, disable or enable it. One admin is always left."""
    from headwater.accounts.role import Role
    from headwater.accounts.users import UserChange
    from headwater.actions.accounts import edit_user

    change = UserChange(Role(role) if role else None, disable)
    changed = with_services(launch, lambda services: edit_user(services, name, change))
    show(f"{changed.name} is {'disabled' if changed.is_disabled else changed.role}.")


def reset_password(name: UserName, *, password_file: PasswordFile = None, launch: Launched = Launch()) -> None:  # noqa: B008
    """Give a user another password; all its logins end."""
    from headwater.accounts.users import UserChange
    from headwater.actions.accounts import edit_user

    password = typed_password(password_file)
    changed = with_services(launch, lambda services: edit_user(services, name, UserChange(password=password)))
    show(f"{changed.name} has another password, and has to log in again.")


def list_all(
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List the people who may log in.

    Parameters
    ----------
    limit
        Users per page.
    """
    from headwater.clock import SystemClock
    from headwater.shapes.accounts import user_as_dict

    async def work(services: "Services") -> "ListPage[User]":
        from headwater.actions.accounts import page_of_users

        return await page_of_users(services.database, limit, cursor)

    now = SystemClock().now()
    show_page(
        with_services(launch, work),
        PageTable(
            "users",
            user_as_dict,
            ("name", "role", "last login", "made by"),
            lambda one: (
                one.name,
                "disabled" if one.is_disabled else one.role,
                relative(one.last_login_at, now),
                one.created_by,
            ),
            if_empty="Nobody can log in yet. Let somebody: headwater admin create ann",
            whole=("name",),
        ),
        as_json=json,
    )


def sessions(name: UserName, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """List the logins of a user that hold, the latest first."""
    from dataclasses import asdict

    from headwater.clock import SystemClock

    async def work(services: "Services") -> "list[SessionInShort]":
        from headwater.actions.accounts import sessions_of_user

        return await sessions_of_user(services, name)

    found, now = with_services(launch, work), SystemClock().now()
    if json:
        show_json({"sessions": [asdict(one) for one in found]})
        return
    if not found:
        say(f"{name} is not logged in.")
        return
    show_table(
        ("id", "from", "since", "last seen"),
        [(one.id, one.address, relative(one.created_at, now), relative(one.last_seen_at, now)) for one in found],
        whole=("id",),
    )
    say(f"End one: headwater admin end-session {name} {found[0].id}")


def end_session(name: UserName, id: str | None = None, *, launch: Launched = Launch()) -> None:  # noqa: A002, B008
    """End one login of a user; without an id all of them.

    Parameters
    ----------
    id
        Of the login, as `headwater admin sessions` shows it.
    """
    from headwater.actions.accounts import end_logins

    with_services(launch, lambda services: end_logins(services, name, id))
    show(f"{'The login' if id else 'Every login'} of {name} has ended.")


def remove(name: UserName, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Remove a user with all its logins. One admin is always left."""
    from headwater.actions.accounts import delete_user

    with_services(launch, lambda services: delete_user(services, name))
    show(f"{name} is removed.")
