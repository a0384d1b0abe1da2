"""Where a person is logged in, each with a button that ends it: for oneself, and for admins. Pure."""

from collections.abc import Sequence

from headwater.accounts.sessions import SessionInShort
from headwater.serve.console.components import TableColumn, empty_state, table
from headwater.serve.console.forms import action_button
from headwater.serve.console.shown import cut, foreign, moment
from headwater.serve.console.visit import PageVisit
from headwater.serve.pages.markup import Markup, joined


def logins_table(visit: PageVisit, found: Sequence[SessionInShort], own: str, path: str) -> Markup:
    """`own`: the login that looks at them. `path` takes the id of one that is to end."""

    def end(one: SessionInShort) -> Markup:
        return action_button(path, visit.csrf_token, "End", {"id": one.id}, about=f"from {cut(one.address, 60)}")

    made = [
        TableColumn[SessionInShort](
            "From", lambda one: joined(foreign(one.address, 60), " (this one)" if one.id == own else ""), "main"
        ),
        TableColumn[SessionInShort]("Since", lambda one: moment(one.created_at, visit.now)),
        TableColumn[SessionInShort]("Last seen", lambda one: moment(one.last_seen_at, visit.now)),
        TableColumn[SessionInShort]("Ends", lambda one: moment(one.expires_at, visit.now)),
        TableColumn[SessionInShort]("", end),
    ]
    return table(made, found, "Logins", empty=empty_state("Not logged in."), id_="sessions")
