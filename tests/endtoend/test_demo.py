"""The demo as a newcomer starts it: it keeps its promises, and ends with an error where it does not."""

import subprocess
import sys
from time import monotonic

import orjson
import pytest

from headwater.cli.demo_watch import broken_promises

KEPT = {
    "hosts_asked_too_soon": 0,
    "disallowed_requests": 0,
    "unconditional_repeats": 0,
    "counters_equal_recount": True,
}


PROGRAM = [sys.executable, "-m", "headwater"]


def fitting_seconds() -> int:
    """Enough for its processes to start and to poll twice: twelve, and more on a machine that is busy now."""
    began = monotonic()
    subprocess.run([*PROGRAM, "version"], capture_output=True, check=True)
    return min(12 + round(10 * (monotonic() - began)), 60)


def test_it_follows_publishers_from_their_list_to_documents() -> None:
    seconds = fitting_seconds()
    # Fifteen hours: long enough for sitemaps to be read twice.
    pace = 15 * 3600 // seconds
    words = ["demo", "--headless", f"--seconds={seconds}", f"--pace={pace}", "--publishers=25", "--json"]
    done = subprocess.run([*PROGRAM, *words], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    summary = orjson.loads(done.stdout.splitlines()[-1])
    assert {name: summary[name] for name in KEPT} == KEPT
    assert summary["polls"]["not_modified"] > 0
    assert summary["documents"] > 0
    assert summary["discovered"] > summary["fetched"] > 0


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({}, []),
        ({"hosts_asked_too_soon": 2}, ["2 hosts asked sooner than the delay allows"]),
        ({"unconditional_repeats": 1}, ["1 request repeated without the validators of the one before"]),
        (
            {"disallowed_requests": 1, "counters_equal_recount": False},
            ["1 request for what robots.txt disallows", "the counters differ from a recount"],
        ),
    ],
)
def test_what_does_not_hold_is_said(broken: dict[str, object], words: list[str]) -> None:
    assert broken_promises(KEPT | broken) == words
