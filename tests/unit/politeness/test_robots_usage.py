"""Lines about use in robots.txt: whose they are, which pages they are about, and that they change no rule."""

import pytest

from headwater.politeness.robots import MOST_LICENCES, MOST_USAGE_LINES, parse_robots
from headwater.rights.record import PageUse, rights_from

USED_WIDELY = """
User-agent: *
Content-Signal: search=yes,ai-input=no,ai-train=no
Allow: /

User-agent: Otherbot
Disallow: /
"""


def marks(text: str, path: str = "/story", name: str = "Headwater") -> list[str]:
    return rights_from(parse_robots(text.encode(), name).statements_on(path)).marks


def test_a_signal_belongs_to_its_group_and_is_no_rule() -> None:
    robots = parse_robots(USED_WIDELY.encode(), "Headwater")
    assert rights_from(robots.statements_on("/a")).marks == ["train=refused", "input=refused", "search=allowed"]
    assert robots.decide("/a").allowed
    assert marks(USED_WIDELY, name="Otherbot") == []
    assert not parse_robots(USED_WIDELY.encode(), "Otherbot").decide("/a").allowed


def test_a_line_about_use_does_not_end_a_list_of_agents() -> None:
    text = "User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /x\n"
    assert not parse_robots(text.encode(), "a").decide("/x").allowed
    assert not parse_robots(text.encode(), "b").decide("/x").allowed


def test_a_line_about_use_in_the_middle_does_not_end_its_group() -> None:
    text = "User-agent: *\nDisallow: /x\nContent-Usage: train-ai=n\nLicense: https://a.example/l\nDisallow: /y\n"
    robots = parse_robots(text.encode(), "Headwater")
    assert [robots.decide(path).allowed for path in ("/x", "/y", "/z")] == [False, False, True]
    assert marks(text) == ["train=refused"]


def test_our_own_group_speaks_alone() -> None:
    text = "User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: headwater\nContent-Usage: train-ai=y\nAllow: /\n"
    assert marks(text) == ["train=allowed"]


def test_the_longest_path_wins_and_of_equal_ones_any_no() -> None:
    text = """User-agent: *
Content-Usage: train-ai=n
Content-Usage: /open/ train-ai=y
Content-Usage: /open/mixed train-ai=y
Content-Usage: /open/mixed train-ai=n, search=y
"""
    assert marks(text, "/closed") == ["train=refused"]
    assert marks(text, "/open/a") == ["train=allowed"]
    assert marks(text, "/open/mixed") == ["train=refused", "search=allowed"]


def test_conventions_are_asked_one_by_one() -> None:
    text = "User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: /open/ train-ai=y\nAllow: /\n"
    assert marks(text, "/open/a") == ["train=refused"], "a longer path of another convention takes nothing back"


def test_patterns_are_those_of_rules() -> None:
    text = "User-agent: *\nContent-Usage: /*.pdf$ train-ai=n\nAllow: /\n"
    assert marks(text, "/a/b.pdf") == ["train=refused"]
    assert marks(text, "/a/b.pdf?x") == []


def test_what_stands_before_any_group_and_licences_are_for_everyone() -> None:
    text = "Content-Signal: ai-train=no\nUser-agent: other\nDisallow: /\nLicense: https://a.example/l.xml\n"
    robots = parse_robots(text.encode(), "Headwater")
    told = rights_from(robots.statements_on("/a"))
    assert told.of(PageUse.TRAIN) == "refused"
    assert [one.licence for one in told.statements] == ["", "https://a.example/l.xml"]


@pytest.mark.parametrize("line", ["License: MIT", "License", "License agreement", "License: javascript:x", "License:"])
def test_what_is_no_address_is_no_licence(line: str) -> None:
    assert parse_robots(f"User-agent: *\n{line}\n".encode(), "Headwater").licences == ()


def test_floods_are_cut() -> None:
    lines = "".join(f"Content-Usage: /{n} train-ai=n\nLicense: https://a.example/{n}\n" for n in range(3_000))
    robots = parse_robots(f"User-agent: *\n{lines}".encode(), "Headwater")
    assert len(robots.usage) == MOST_USAGE_LINES
    assert len(robots.licences) == MOST_LICENCES
