"""Canonical keys per second on one core, beside the bare parser and a plain urllib normaliser.

Run: python -m benchmarks.urls
"""

import json
import time
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from hashlib import sha256
from random import Random
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ada_url import normalize_url

from headwater.urls.canonical import canonicalise
from headwater.urls.traps import trap_in

T = TypeVar("T")

COUNT = 50_000
ROUNDS = 5
SHAPES = (
    "https://{host}/{year}/{month:02}/{slug}-{n}/",
    "https://{host}/news/{slug}-{n}",
    "https://{host}/news/{slug}-{n}?utm_source=rss&utm_medium=feed&utm_campaign=daily",
    "http://{host}/{slug}.html?id={n}&page=2",
    "https://{host}/article?z={n}&b=2&a=1&fbclid=AbC{n}",
    "http://{host}:8080/a/{slug}/{n}",
    "HTTP://WWW.{host}:80/{slug}/../{n}/",
    "https://{host}/caf%c3%a9/{slug}/%7euser/{n}#comments",
    "https://{host}/größe/{slug}-{n}",
    "https://bücher-{n}.example/{slug}",
)


def synthetic_urls(count: int) -> list[str]:
    """The same on every machine; five of six as feeds write them, the rest with something to mend."""
    rng = Random(7)
    words = ["storm", "council", "budget", "final", "river", "vote", "market", "school", "rail", "harvest"]
    hosts = [f"{rng.choice(words)}-{n}.example" for n in range(2_000)]
    return [
        rng.choices(SHAPES, weights=(24, 20, 14, 12, 10, 4, 4, 4, 4, 4))[0].format(
            host=rng.choice(hosts),
            slug="-".join(rng.choices(words, k=5)),
            n=n,
            year=rng.randint(2015, 2025),
            month=rng.randint(1, 12),
        )
        for n in range(count)
    ]


def naive_hash(url: str) -> bytes:
    """What one writes in an afternoon: no dot segments, no escapes, no refusals, no punycode."""
    parts = urlsplit(url)
    host = (parts.hostname or "") + (f":{parts.port}" if parts.port not in (None, 80, 443) else "")
    pairs = sorted(pair for pair in parse_qsl(parts.query) if not pair[0].lower().startswith("utm_"))
    key = urlunsplit(("https", host, parts.path.rstrip("/") or "/", urlencode(pairs), ""))
    return sha256(key.encode()).digest()


def best_rate(work: Callable[[T], object], items: Sequence[T]) -> float:
    """The best of several rounds: what else runs on the machine only ever slows one down."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for item in items:
            work(item)
        best = min(best, time.perf_counter() - began)
    return len(items) / best


def main() -> None:
    urls = synthetic_urls(COUNT)
    rates = {
        "urls_per_s": best_rate(canonicalise, urls),
        "bare_parser_per_s": best_rate(normalize_url, urls),
        "naive_urllib_per_s": best_rate(naive_hash, urls),
        "trap_checks_per_s": best_rate(partial(trap_in, today=date(2026, 1, 1)), [canonicalise(url) for url in urls]),
    }
    print(f"{COUNT:,} synthetic URLs, one core, best of {ROUNDS} rounds")
    for name, rate in rates.items():
        print(f"  {name:20} {rate:>10,.0f}")
    print(f"  {rates['urls_per_s'] / rates['naive_urllib_per_s']:.1f} times the naive normaliser")
    print(json.dumps({name: round(rate) for name, rate in rates.items()}))


if __name__ == "__main__":
    main()
