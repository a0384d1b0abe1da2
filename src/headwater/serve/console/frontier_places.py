"""Where pages of the frontier are, and words that they share. Pure."""

from urllib.parse import quote

from headwater.accounts.role import Role
from headwater.frontier.control import LONGEST_WHY
from headwater.frontier.entry import EntryStatus
from headwater.serve.console.components import tabs
from headwater.serve.console.forms import text_field
from headwater.serve.console.visit import PageVisit
from headwater.serve.pages.markup import Markup

PATH = "/console/frontier"
FAILURES = f"{PATH}/failures"
WAITING = (EntryStatus.PENDING, EntryStatus.FAILED)
KILLED = "It is fetched never again, whoever lists it, until somebody revives it."
KEPT = "What was kept of it stays; a takedown withdraws that as well."


def because_field() -> Markup:
    return text_field("because", "Why", maxlength=str(LONGEST_WHY), hint="For those who wonder later.")


def story_path(url: str) -> str:
    return f"{PATH}/url?url={quote(url, safe='')}"


def frontier_tabs(visit: PageVisit, path: str) -> Markup:
    entries = [("URLs", PATH), ("Failures", FAILURES), ("One URL", f"{PATH}/url")]
    if visit.may(Role.OPERATOR):
        entries.append(("Add URLs", f"{PATH}/add"))
    return tabs(entries, path, "Frontier")
