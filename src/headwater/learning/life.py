"""When a host's pages are worth a training, and when its template has served its time. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

# Half of a training's pages were read well, half were refused: without the first a host's rare pages would push its
# usual ones out of what it is known by.
MOST_OF_EACH = 8
FIRST_TRAINING = 4
# Trainings that learned nothing make the next one wait for twice as many new pages, up to this many doublings.
MOST_DOUBLINGS = 7
# Moving means: about so many of the last pages count.
_LAST_PAGES, _LAST_AUDITS = 12, 8
_FEWEST_REFUSED, _REFUSING = 4, 0.3
_FEWEST_AUDITS, _WORSE = 4, 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateStanding:
    """An active template and what it was good for; `agreement` is what it began with, `agreeing` what it has now."""

    section: str
    version: int
    agreement: float
    served: int = 0
    refused: int = 0
    audited: int = 0
    refusing: float = 0.0
    agreeing: float | None = None
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def key(self) -> tuple[str, int]:
        return self.section, self.version


@dataclass(slots=True)
class Use:
    """The use of a template on the pages of one report."""

    served: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    agreements: list[float] = field(default_factory=list)


@dataclass(slots=True)
class UseTally:
    """The observations of one worker at one host since its last report; pages by the hash of their address."""

    source_id: UUID
    read_well: list[bytes] = field(default_factory=list)
    refused: list[bytes] = field(default_factory=list)
    uses: dict[tuple[str, int], Use] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLearning:
    """A host: which of its stored pages can teach, and how many of them are new since its last training."""

    pool: tuple[bytes, ...] = ()
    refused: tuple[bytes, ...] = ()
    fresh: int = 0
    failures: int = 0
    is_waiting: bool = False
    is_disabled: bool = False


def after(host_learning: HostLearning, tally: UseTally) -> HostLearning:
    pool, refused = _newest(host_learning.pool, tally.read_well), _newest(host_learning.refused, tally.refused)
    come = len({*pool, *refused} - {*host_learning.pool, *host_learning.refused})
    return replace(host_learning, pool=pool, refused=refused, fresh=host_learning.fresh + come)


def after_use(standing: TemplateStanding, use: Use) -> TemplateStanding:
    refused = use.refused.total()
    return replace(
        standing,
        served=standing.served + use.served,
        refused=standing.refused + refused,
        audited=standing.audited + len(use.agreements),
        refusing=_moved(standing.refusing, refused / (refused + use.served or 1), refused + use.served, _LAST_PAGES),
        agreeing=_agreeing(standing, use.agreements),
        reasons=standing.reasons + use.refused,
    )


def why_learn(host_learning: HostLearning, standings: Sequence[TemplateStanding]) -> str:
    """The reason for a training; nothing if there is no need, or too little new to learn from."""
    if (
        host_learning.is_waiting
        or host_learning.is_disabled
        or host_learning.fresh < FIRST_TRAINING << min(host_learning.failures, MOST_DOUBLINGS)
    ):
        return ""
    if not standings:
        return "enough pages to learn from"
    return next((why for one in standings if (why := why_drifting(one))), "")


def why_drifting(standing: TemplateStanding) -> str:
    if standing.refused < _FEWEST_REFUSED or standing.refusing < _REFUSING:
        return ""
    most, _ = standing.reasons.most_common(1)[0]
    return f"version {standing.version} refuses {standing.refusing:.0%} of the last pages, mostly for {most}"


def why_off(standing: TemplateStanding) -> str:
    """Worse than its own past: what it began with is the measure, as on some hosts the general extractor is wrong."""
    if standing.agreeing is None or standing.audited < _FEWEST_AUDITS:
        return ""
    if standing.agreeing >= standing.agreement - _WORSE:
        return ""
    now, then = f"{standing.agreeing:.0%}", f"{standing.agreement:.0%}"
    return f"agrees with the general extractor to {now}, to {then} when it was learned"


def _newest(known: Iterable[bytes], come: Iterable[bytes]) -> tuple[bytes, ...]:
    ordered = dict.fromkeys(known)
    for one in come:
        ordered.pop(one, None)
        ordered[one] = None
    return tuple(ordered)[-MOST_OF_EACH:]


def _agreeing(standing: TemplateStanding, agreements: Sequence[float]) -> float | None:
    agreeing = standing.agreeing
    for one in agreements:
        agreeing = _moved(standing.agreement if agreeing is None else agreeing, one, 1, _LAST_AUDITS)
    return agreeing


def _moved(mean: float, to: float, times: int, span: int) -> float:
    """A moving mean after so many more observations."""
    weight = (1 - 1 / span) ** times
    return mean * weight + to * (1 - weight)
