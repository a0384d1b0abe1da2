"""tdmrep.json of an origin: which of its pages reserve text and data mining. Asked for once a day at most, and kept."""

from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.net.body import Complete
from headwater.net.problems import FetchProblem, Problem
from headwater.net.transport import Response
from headwater.politeness.robots import END, Pattern, normalise_path, pattern_of
from headwater.rights.headers import tdm_statement
from headwater.rights.record import StatedIn, UseStatement, web_address
from headwater.urls.fingerprint import bucket_of
from headwater.urls.origin import Origin

queries = load_queries("headwater.fetch")

PATH = "/.well-known/tdmrep.json"
LARGEST_BYTES = 256 * 1024
MOST_RULES = 200
_MOST_STARS = 20
_LONGEST_LOCATION = 2_083
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


class TdmRule(NamedTuple):
    location: str
    reservation: str
    policy: str


@dataclass(frozen=True, slots=True)
class TdmRules:
    """In the order of the file."""

    rules: tuple[TdmRule, ...] = ()

    def statement_on(self, target: str) -> UseStatement | None:
        """By the first rule that matches; None where none does."""
        spelt = normalise_path(target) + END
        found = (rule for rule in self.rules if _pattern(rule.location).matches(spelt))
        rule = next(found, None)
        return tdm_statement(StatedIn.WELL_KNOWN, rule.reservation, rule.policy) if rule else None


def tdm_rules_from(body: bytes) -> TdmRules:
    """What is no list of rules says nothing, and a rule that is none is left out."""
    if len(body) > LARGEST_BYTES:
        return TdmRules()
    try:
        told = orjson.loads(body)
    except orjson.JSONDecodeError:
        return TdmRules()
    written = told if isinstance(told, list) else [told]
    return TdmRules(tuple(rule for one in written[:MOST_RULES] if (rule := _rule(one))))


def _rule(written: Any) -> TdmRule | None:
    if not isinstance(written, dict):
        return None
    location, reservation = written.get("location"), written.get("tdm-reservation")
    policy = written.get("tdm-policy")
    # A text "1" is what some write, and `true` is no number here.
    if not isinstance(location, str) or isinstance(reservation, bool) or reservation not in (0, 1, "0", "1"):
        return None
    if not location.isprintable() or not 0 < len(location) <= _LONGEST_LOCATION or location.count("*") > _MOST_STARS:
        return None
    return TdmRule(location, str(reservation), web_address(policy) if isinstance(policy, str) else "")


@lru_cache(maxsize=2_000)
def _pattern(location: str) -> Pattern:
    return pattern_of(location if location.startswith(("/", "*")) else f"/{location}")


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


async def tdm_of_host(database: Database, host: str) -> list[TdmRules]:
    """Of each origin of which it is known."""
    rows = await database.fetch(queries.read_tdmrep_of_host, bucket_of(host), host)
    return [stored_tdm_from(row).rules for row in rows]


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
