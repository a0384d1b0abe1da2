"""The simulated web with its hostile neighbour."""

from collections import ChainMap
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from headwater.simweb.message import Site
from headwater.simweb.mischief.stage import Mischief
from headwater.simweb.neighbours import pretence, theft, weight
from headwater.simweb.neighbours.plan import Attack, AttackName, Followed, Plan, Stand
from headwater.simweb.server import SimWeb
from headwater.simweb.world import World

STANDS: Mapping[AttackName, Attack] = {
    "stolen_words": theft.stolen_words,
    "stolen_vacancies": theft.stolen_vacancies,
    "false_canonical": pretence.false_canonical,
    "stories_as_jobs": theft.stories_as_jobs,
    "copies": theft.copies,
    "heavy_listing": weight.heavy_listing,
    "silent_names": weight.silent_names,
    "heavy_subdomains": weight.heavy_subdomains,
    "deadly_page": weight.deadly_page,
    "foreign_flood": weight.foreign_flood,
    "many_names": weight.many_names,
    "effects": pretence.effects,
    "hidden_text": pretence.hidden_text,
}
# Their names lead to one machine, as far from healthy publishers as on the real web.
HOLDING_UP: tuple[AttackName, ...] = ("silent_names", "heavy_subdomains", "deadly_page", "foreign_flood", "many_names")
# The simulated web has to listen there.
MACHINE = "127.0.0.9"
AIMED_AT = 10


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Everybody's sites, and what an operator would have to follow to be attacked."""

    sites: Mapping[str, Site]
    own: Mapping[str, Site]
    followed: tuple[Followed, ...]
    mischief: Mapping[str, Mischief]
    holding_up: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """The neighbour's names that do not end in .test: a resolver must be told of them."""
        return frozenset(name for name in self.own if not name.endswith(".test"))

    def addresses(self, at: str = MACHINE) -> dict[str, str]:
        """Where the names of attacks lead that hold visitors up, for a resolver."""
        return dict.fromkeys(sorted(self.holding_up), at)

    def script(self, web: SimWeb) -> None:
        for host, mischief in self.mischief.items():
            web.script(host, mischief)


def beside(others: Mapping[str, Site], plan: Plan) -> Neighbourhood:
    by_name: dict[AttackName, Stand] = {name: STANDS[name](plan, others) for name in plan.attacks}
    stands = by_name.values()
    own = {host: site for stand in stands for host, site in stand.sites.items()}
    holding_up = [by_name[name] for name in HOLDING_UP if name in by_name]
    return Neighbourhood(
        sites=ChainMap(own, others),  # type: ignore[arg-type]  # read only
        own=own,
        followed=tuple(one for stand in stands for one in stand.followed),
        mischief={host: mischief for stand in stands for host, mischief in stand.mischief.items()},
        holding_up=frozenset(host for stand in holding_up for host in (*stand.sites, *stand.mischief)),
    )


def plan_against(world: World, now: datetime, attacks: Collection[AttackName], most: int = AIMED_AT) -> Plan:
    """Aimed at the newest articles and vacancies of publishers in turn, at most so many of each."""
    papers = [one for one in world.publishers if one.kind == "news" and one.feeds]
    employers = [one for one in world.publishers if one.kind == "jobs"]
    articles = [item.url for paper in papers[:most] for item in islice(world.items(paper, now), 2)]
    offered = [one for employer in employers for one in islice(world.vacancies(employer, now), most)]
    vacancies = [url for one in offered for url in (one.url, one.apply_url)]
    return Plan(
        attacks=tuple(attacks),
        articles=tuple(articles[:most]),
        vacancies=tuple(vacancies[:most]),
        stories=tuple(articles[:most]),
        copied=tuple(articles[:most]),
    )
