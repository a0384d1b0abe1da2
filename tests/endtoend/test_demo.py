"""The demo as a newcomer starts it: it keeps its promises, and ends with an error where it does not."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from headwater.cli.demo.watch import broken_promises

KEPT = {
    "hosts_asked_too_soon": 0,
    "disallowed_requests": 0,
    "unconditional_repeats": 0,
    "repeated": [],
    "counters_equal_recount": True,
}
DELIVERED = {"behind": {"demo-files": 0, "demo-webhook": 0}, "webhooks_forged": 0}


@pytest.mark.long
def test_it_follows_publishers_from_their_list_to_documents() -> None:
    # At a pace of 3600 a second is an hour: feeds are asked again. A busy machine gets more of them.
    summary = demo(seconds=12)
    if not (summary["polls"].get("not_modified") and summary["documents"]):
        summary = demo(seconds=60)
    assert summary["polls"]["not_modified"] > 0
    assert summary["documents"] > 0
    assert {name: summary["delivery"][name] for name in DELIVERED} == DELIVERED
    assert summary["delivery"]["jsonl_lines"] > 0
    assert summary["delivery"]["webhooks"] > 0
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


@pytest.mark.long
def test_it_is_kept_where_the_settings_say(open_folder: Path) -> None:
    kept = open_folder / "data"
    flags = ["--set", f"service.data_dir={kept}", "demo", "--keep", "--headless", "--seconds", "1", "--publishers", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "headwater", *flags], capture_output=True, text=True, timeout=100, check=False
    )
    [folder] = kept.iterdir()
    assert (folder / "postgresql").is_dir(), done.stderr
    assert f"--set service.data_dir={folder} frontier stats" in done.stdout


def test_a_place_to_keep_it_in_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "data"
    words = ["--set", f"service.data_dir={place}", "demo", "--keep"]
    done = subprocess.run([sys.executable, "-m", "headwater", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"The demo cannot be kept in {place}: Not a directory." in done.stderr


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
        (
            {"delivery": {"behind": {"demo-files": 3, "demo-webhook": 0}, "webhooks_forged": 1}},
            ["sinks are behind the log ({'demo-files': 3})", "a webhook came with a wrong signature"],
        ),
    ],
)
def test_what_does_not_hold_is_said(broken: dict[str, object], words: list[str]) -> None:
    assert broken_promises(KEPT | {"delivery": DELIVERED} | broken) == words
