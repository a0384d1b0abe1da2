"""tdmrep.json of an origin: asked for once a day at most, and kept in the database, its absence too."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.net.body import Complete
from headwater.net.problems import FetchProblem, Problem
from headwater.net.transport import Response
from headwater.politeness.tdmrep import TdmRule, TdmRules, tdm_rules_from
from headwater.urls.fingerprint import bucket_of
from headwater.urls.origin import Origin

queries = load_queries("headwater.fetch")

# As requests are told apart in logs and figures.
KIND = "rights"
# The host was not reached at all.
NOT_REACHED = frozenset(
    {
        *(Problem.DNS_NOT_FOUND, Problem.DNS_FAILED, Problem.CONNECT_TIMEOUT, Problem.CONNECT_REFUSED),
        *(Problem.CONNECT_FAILED, Problem.TLS, Problem.BLOCKED_ADDRESS),
    }
)
FRESH_FOR = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class StoredTdm:
    rules: TdmRules
    is_fresh: bool


@dataclass(frozen=True, slots=True)
class TdmStore:
    database: Database

    async def keep(self, origin: Origin, rules: TdmRules) -> TdmRules:
        place = bucket_of(origin.host), origin.host, origin.scheme, origin.port
        await self.database.execute(queries.store_tdmrep, *place, list(map(list, rules.rules)), FRESH_FOR)
        return rules


def stored_tdm_from(row: Any) -> StoredTdm:
    rules = TdmRules(tuple(TdmRule(*one) for one in row["tdm_rules"]))
    return StoredTdm(rules, row["tdm_expires_at"] > row["now"])


def rules_after(answer: Response | FetchProblem, before: TdmRules) -> TdmRules:
    """An origin that cannot answer now has not taken back what it said; any other answer counts."""
    if isinstance(answer, FetchProblem) or answer.status >= 500 or answer.status == 429:
        return before
    if answer.status != 200 or not isinstance(answer.content, Complete):
        return TdmRules()
    return tdm_rules_from(answer.body)
