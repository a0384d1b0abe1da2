"""The demo as a newcomer starts it: it keeps its promises, and ends with an error where it does not."""

import subprocess
import sys
from typing import Any

import orjson
import pytest

from headwater.cli.demo_watch import broken_promises

KEPT = {
    "hosts_asked_too_soon": 0,
    "disallowed_requests": 0,
    "unconditional_repeats": 0,
    "repeated": [],
    "counters_equal_recount": True,
}


@pytest.mark.long
def test_it_follows_publishers_from_their_list_to_documents() -> None:
    # At a pace of 3600 a second is an hour: feeds are asked again. A busy machine gets more of them.
    summary = demo(seconds=12)
    if not (summary["polls"].get("not_modified") and summary["documents"]):
        summary = demo(seconds=60)
    assert summary["polls"]["not_modified"] > 0
    assert summary["documents"] > 0
    assert summary["discovered"] > summary["fetched"] > 0


def demo(seconds: int) -> dict[str, Any]:
    words = ["demo", "--headless", "--seconds", str(seconds), "--pace", "3600", "--publishers", "25", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "headwater", *words], capture_output=True, text=True, timeout=seconds + 100, check=False
    )
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = orjson.loads(done.stdout.splitlines()[-1])
    assert {name: summary[name] for name in KEPT} == KEPT
    return summary


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({}, []),
        ({"hosts_asked_too_soon": 2}, ["2 hosts asked sooner than the delay allows"]),
        (
            {"unconditional_repeats": 1, "repeated": ["a.test/feed"]},
            ["1 request repeated without the validators of the one before (a.test/feed)"],
        ),
        (
            {"disallowed_requests": 1, "counters_equal_recount": False},
            ["1 request for what robots.txt disallows", "the counters differ from a recount"],
        ),
    ],
)
def test_what_does_not_hold_is_said(broken: dict[str, object], words: list[str]) -> None:
    assert broken_promises(KEPT | broken) == words
