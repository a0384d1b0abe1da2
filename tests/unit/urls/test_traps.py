from datetime import date

import pytest

from headwater.urls.canonical import canonicalise
from headwater.urls.rules import HostRules
from headwater.urls.traps import Trap, TrapLimits, trap_in

TODAY = date(2026, 3, 1)

TRAPS = {
    Trap.TOO_DEEP: ["/" + "/".join(f"s{n}" for n in range(21))],
    Trap.REPEATING_PATH: [
        "/a/a/a",
        "/x/a/a/a/y",
        "/a/A/a",
        "/a/b/a/b/a/b",
        "/x/a/b/c/a/b/c/a/b/c",
        "/a/b/c/d/a/b/c/d/a/b/c/d",
        "/a////b",
    ],
    Trap.TOO_MANY_PARAMETERS: ["/?" + "&".join(f"f{n}=1" for n in range(13)), "/?" + "&".join(["f=1"] * 13)],
    Trap.GROWING_VALUE: ["/?next=" + "a" * 513, "/?next=%2Fa%3Fnext%3D%252Fa%253Fnext%253D%25252F"],
    Trap.SESSION_ID: [
        "/a;jsessionid=1A2B",
        "/a;v=1;JSESSIONID=1A2B/b",
        "/?PHPSESSID=x",
        "/?sid=3f2a9c",
        "/?a=1&sessionid=99",
        "/?session_id=99",
        "/?ASPSESSIONIDQQQ=x",
        "/(S(abc123))/page",
    ],
    Trap.HAS_EFFECTS: [
        "/logout",
        "/user/Logout/",
        "/logout.php",
        "/posts/12/delete",
        "/?action=edit",
        "/?action=logout",
        "/?action=",
        "/?add-to-cart=17",
        "/?op=delete&id=3",
        "/story?replytocom=99",
        "/?action=rss",
    ],
    Trap.ENDLESS_CALENDAR: [
        "/2031/05/12",
        "/2031/05/a-title",
        "/calendar/2029-01",
        "/calendar/2300/01/",
        "/calendar/1899/07",
        "/events/1200/1",
        "/archive/1985/06",
        "/calendar?month=2031-01",
        "/calendar?month=400",
        "/calendar?month=-400",
        "/calendar?month=203101",
        "/calendar?year=2099",
        "/calendar?year=0000",
        "/?tribe-bar-date=2031-01-01",
        "/?start=1950-01-01",
        "/?day=01%2F02%2F2044",
    ],
}


@pytest.mark.parametrize(
    ("target", "trap"), [(target, trap) for trap, targets in TRAPS.items() for target in targets], ids=lambda x: x[:40]
)
def test_trap(target: str, trap: Trap) -> None:
    assert trap_in(canonicalise("https://h" + target), today=TODAY) is trap


ARTICLES = [
    "/",
    "/" + "/".join(f"s{n}" for n in range(20)),
    "/a/a",
    "/a/b/a/b",
    "/2011/11/11/eleven",
    "/1851/09/18/archives/first-edition",
    "/2026/03/01/title",
    "/2027/12/preview",
    "/2019/05/",
    "/8490/12/part",
    "/8490/12",
    "/?p=123",
    "/article.php?sid=12345",
    "/article.pl?sid=09/01/23/1234",
    "/?session=spring",
    "/?sid=",
    "/delete-your-account-now",
    "/logouts-explained",
    "/?action=view&id=3",
    "/story.html?action=click&module=News",
    "/?do=show",
    "/?month=12",
    "/?start=3000",
    "/?update=2099",
    "/?id=1234-05",
    "/news/2050-climate-goals",
    "/?next=%2Fa%3Fb%3Dc",
    "/?" + "&".join(f"f{n}=1" for n in range(12)),
    "/?" + "&".join(f"utm_{n}=1" for n in range(30)),
    "/a;b",
    "/a;;b=1",
]


@pytest.mark.parametrize("target", ARTICLES, ids=lambda x: x[:40])
def test_no_trap(target: str) -> None:
    assert trap_in(canonicalise("https://h" + target), today=TODAY) is None


def test_limits_are_the_callers() -> None:
    limits = TrapLimits(segments=2, years_back=1)
    assert trap_in(canonicalise("https://h/a/b/c"), today=TODAY, limits=limits) is Trap.TOO_DEEP
    assert trap_in(canonicalise("https://h/2024/05"), today=TODAY, limits=limits) is Trap.ENDLESS_CALENDAR


def test_today_decides_what_is_far() -> None:
    url = canonicalise("https://h/calendar/2029/01")
    assert trap_in(url, today=TODAY) is Trap.ENDLESS_CALENDAR
    assert trap_in(url, today=date(2027, 1, 1)) is None


def test_a_stripped_session_id_is_no_trap() -> None:
    rules = HostRules(strip_params=frozenset({"phpsessid"}))
    assert trap_in(canonicalise("https://h/?PHPSESSID=x", rules=rules), today=TODAY) is None
