"""The log of what was changed."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.launch import AsJson, Cursor, Launch, Launched, Limit, with_services
from headwater.cli.output import json_of
from headwater.cli.pages import PageTable, show_page
from headwater.cli.words import shorten

if TYPE_CHECKING:
    from headwater.accounts.audit import StoredLine
    from headwater.reports.paging import ListPage
    from headwater.services import Services

WIDEST_DETAILS = 120


def audit(
    *,
    actor: Annotated[
        str | None, Parameter(help="Only what this one did: ann, token:dashboard, 'command line'.")
    ] = None,
    action: Annotated[str | None, Parameter(help="Only this operation, such as add_view.")] = None,
    since: Annotated[str | None, Parameter(help="Only since: 7d, 12h, or a date.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List what was changed through the web role, by whom, and logins that were refused; newest first.

    Parameters
    ----------
    limit
        Lines per page.
    """
    from headwater.shapes.accounts import audit_line_as_dict

    async def work(services: "Services") -> "ListPage[StoredLine]":
        from headwater.accounts.audit import AuditFilter
        from headwater.actions.accounts import page_of_audit
        from headwater.actions.searching import moment_of

        wanted = AuditFilter(actor, action, moment_of(since, services.clock.now()))
        return await page_of_audit(services.database, wanted, limit, cursor)

    show_page(
        with_services(launch, work),
        PageTable(
            "audit",
            audit_line_as_dict,
            ("at (UTC)", "actor", "action", "status", "target", "details"),
            _row_of,
            if_empty="Nothing of this kind is in the audit log.",
            below=("details",),
        ),
        as_json=json,
    )


def _row_of(one: "StoredLine") -> tuple[str, ...]:
    return f"{one.at:%Y-%m-%d %H:%M:%S}", one.actor, one.action, str(one.status), one.target, _details(one)


def _details(one: "StoredLine") -> str:
    return shorten(json_of(one.details), WIDEST_DETAILS) if one.details else ""
