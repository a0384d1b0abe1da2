"""`headwater db reports-role`: a login for dashboards and scripts that read the database."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from headwater.cli.launch import Launch, Launched, run_to_end
from headwater.cli.output import say, show
from headwater.errors import UsageError
from headwater.settings import Loaded


def reports_role(
    name: str,
    *,
    password_file: Path | None = None,
    revoke: Annotated[bool, Parameter(negative="", help="Take back what it may read. The role itself stays.")] = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Let a role of PostgreSQL read the SQL views, documents and vacancies, and nothing else. Made where it is missing.

    Parameters
    ----------
    name
        Of the role.
    password_file
        Where its password stands, or - for standard input. Without one a new role has no password.
    """
    if revoke and password_file:
        raise UsageError("--revoke sets no password.", fix="Give one of the two.")
    if revoke:
        run_to_end(_revoke(launch.settings(), name))
        show(f"{name} may read nothing here any more.")
        return
    password = None
    if password_file:
        from headwater.cli.admin.typed import typed_password

        password = typed_password(password_file)
    is_new, address = run_to_end(_grant(launch.settings(), name, password))
    show(f"{name} may read the SQL views, documents and jobs at {address}, and write nothing.")
    if is_new and password is None:
        say("It has no password: give it one with --password-file, where the server asks for one.")


async def _grant(loaded: Loaded, name: str, password: str | None) -> tuple[bool, str]:
    from headwater.database.migrate import require_current
    from headwater.database.report_roles import let_read
    from headwater.services import open_server

    async with open_server(loaded.settings, application_name=loaded.application_name) as database:
        await require_current(database)
        return await let_read(database, name, password), database.address


async def _revoke(loaded: Loaded, name: str) -> None:
    from headwater.database.report_roles import let_read_no_more
    from headwater.services import open_server

    async with open_server(loaded.settings, application_name=loaded.application_name) as database:
        await let_read_no_more(database, name)
