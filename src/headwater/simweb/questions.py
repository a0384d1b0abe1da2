"""Was the visitor polite? Pure answers from a list of visits."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import inf

from headwater.simweb.visits import Visit

SHOWN_REPEATS = 5
Allows = Callable[[str, str], bool]  # (host, path with query) → may it be asked for


def by_host(visits: Iterable[Visit]) -> dict[str, list[Visit]]:
    hosts: defaultdict[str, list[Visit]] = defaultdict(list)
    for visit in visits:
        hosts[visit.host].append(visit)
    return dict(hosts)


def smallest_gap(visits: Iterable[Visit]) -> float | None:
    """Seconds between the two closest arrivals; None with fewer than two.

    Not between the moments they were read: after a busy moment the server reads at once what came one by one.
    """
    arrivals = sorted(visit.arrived for visit in visits)
    return min((later - earlier for earlier, later in pairwise(arrivals)), default=None)


def smallest_gaps(visits: Iterable[Visit]) -> dict[str, float]:
    gaps = ((host, smallest_gap(group)) for host, group in by_host(visits).items())
    return {host: gap for host, gap in gaps if gap is not None}


def highest_concurrency(visits: Iterable[Visit]) -> int:
    """Most requests open at one moment, in the order the server dealt with them.

    One that ends as another starts does not overlap it.
    """
    edges: list[tuple[float, int]] = []
    for visit in visits:
        edges += ((visit.started, 1), (inf if visit.ended is None else visit.ended, -1))
    now_open = most = 0
    for _, change in sorted(edges):
        now_open += change
        most = max(most, now_open)
    return most


def disallowed(visits: Iterable[Visit], allows: Allows) -> list[Visit]:
    return [visit for visit in visits if not allows(visit.host, visit.target)]


def unconditional_repeats(visits: Iterable[Visit]) -> list[Visit]:
    """URLs asked for again without validators although an earlier answer carried some.

    Not behind a 304: a channel that is silent for too long is asked whether its validators tell the truth.
    """
    known: dict[tuple[str, str], bool] = {}
    repeats = []
    for visit in visits:
        url = (visit.host, visit.target)
        if url in known and not known[url] and visit.method == "GET" and not visit.is_conditional:
            repeats.append(visit)
        if visit.got_validators or url in known:
            known[url] = visit.status == 304
    return repeats


def statuses(visits: Iterable[Visit]) -> dict[int, int]:
    return dict(sorted(Counter(visit.status for visit in visits).items()))


def connections(visits: Iterable[Visit]) -> int:
    return len({visit.connection for visit in visits})


def report(visits: Sequence[Visit], allows: Allows) -> dict[str, object]:
    """Everything above, per host and in all, as one JSON object."""
    hosts = {host: summary(group, allows) for host, group in sorted(by_host(visits).items())}
    return {"total": {"hosts": len(hosts), **summary(visits, allows)}, "hosts": hosts}


def summary(visits: Sequence[Visit], allows: Allows) -> dict[str, object]:
    gap = min(smallest_gaps(visits).values(), default=None)
    return {
        "requests": len(visits),
        "smallest_gap_ms": None if gap is None else round(gap * 1000, 3),
        "highest_concurrency": max(map(highest_concurrency, by_host(visits).values()), default=0),
        "connections": connections(visits),
        "statuses": {str(status): count for status, count in statuses(visits).items()},
        "aborted": sum(visit.is_aborted for visit in visits),
        "disallowed": len(disallowed(visits, allows)),
        "unconditional_repeats": len(repeats := unconditional_repeats(visits)),
        "repeated": [f"{visit.host}{visit.target}" for visit in repeats[:SHOWN_REPEATS]],
    }
