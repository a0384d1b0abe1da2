from datetime import timedelta

import pytest

from headwater.politeness.robots import (
    LONGEST_CRAWL_DELAY,
    MOST_SITEMAPS,
    Decision,
    Robots,
    parse_robots,
    parse_robots_text,
    pattern_of,
    robots_text,
)


def robots(*lines: str, agent: str = "Headwater/1.0 (+https://example.org/bot)") -> Robots:
    return parse_robots("\n".join(lines).encode(), agent)


def test_the_deciding_line_is_named_as_written() -> None:
    found = robots("# ours", "User-Agent: Headwater", "User-agent: Delta", "DisAllow : /private  # keep out")
    assert found.decide("/private/1") == Decision(False, 4, "DisAllow : /private", "Headwater, Delta")


def test_of_equal_rules_the_first_is_named() -> None:
    found = robots("User-agent: *", "Disallow: /a", "Disallow: /a", "Disallow: /%61")
    assert found.decide("/a").line_number == 2


def test_silence_names_the_group_that_was_silent() -> None:
    assert robots("User-agent: *", "Disallow: /a").decide("/b") == Decision(True, None, "", "*")
    assert robots("User-agent: Delta", "Disallow: /").decide("/b") == Decision(True)


def test_robots_txt_itself_is_always_allowed() -> None:
    found = robots("User-agent: *", "Disallow: /")
    assert found.decide("/robots.txt").allowed
    assert not found.decide("/robots.txt?x").allowed
    assert not found.decide("/robots.txt/x").allowed


@pytest.mark.parametrize("unknown", ["Sitemap: https://a.example/s.xml", "Host: a.example", "Noindex: /x", "?!", ""])
def test_an_unknown_line_splits_neither_agents_nor_rules(unknown: str) -> None:
    found = robots("User-agent: Headwater", unknown, "User-agent: Delta", "Disallow: /a", unknown, "Disallow: /b")
    assert not found.decide("/a").allowed
    assert not found.decide("/b").allowed


def test_an_empty_disallow_ends_a_list_of_agents() -> None:
    found = robots("User-agent: Headwater", "Disallow:", "User-agent: *", "Disallow: /")
    assert found.decide("/a").allowed
    assert [group.agents for group in found.ours] == [("Headwater",)]


def test_several_groups_for_everyone_are_one() -> None:
    found = robots(
        "User-agent: *", "Disallow: /a", "User-agent: Delta", "Disallow: /b", "User-agent: *", "Disallow: /c"
    )
    assert [found.decide(path).allowed for path in ("/a", "/b", "/c")] == [False, True, False]


@pytest.mark.parametrize("name", ["Head", "Headwater-News", "Headwaters", "water", "Mozilla Headwater", "7Headwater"])
def test_a_name_that_only_resembles_ours_is_not_ours(name: str) -> None:
    assert robots(f"User-agent: {name}", "Disallow: /").decide("/a").allowed


@pytest.mark.parametrize("name", ["headwater", "HEADWATER/2.0", "Headwater bot", "Headwater*", "Headwater7"])
def test_a_name_counts_up_to_where_its_token_ends(name: str) -> None:
    assert not robots(f"User-agent: {name}", "Disallow: /").decide("/a").allowed


def test_an_agent_without_a_token_meets_only_the_star() -> None:
    lines = ("User-agent: 360", "Disallow: /a", "User-agent: *", "Disallow: /b")
    found = robots(*lines, agent="007")
    assert [found.decide(path).allowed for path in ("/a", "/b")] == [True, False]


@pytest.mark.parametrize("key", ["dissallow", "dissalow", "disalow", "diasllow", "disallaw", "DISALOW"])
def test_common_misspellings_of_disallow_are_understood(key: str) -> None:
    assert not robots("User-agent: *", f"{key}: /a").decide("/a").allowed


@pytest.mark.parametrize("key", ["useragent", "user agent", "UserAgent", "User Agent"])
def test_common_misspellings_of_user_agent_are_understood(key: str) -> None:
    assert not robots(f"{key}: Headwater", "Disallow: /a").decide("/a").allowed


def test_a_rule_without_a_colon_may_hold_one() -> None:
    assert not robots("User-agent: *", "Disallow /a:b").decide("/a:b").allowed


def test_prose_is_no_rule() -> None:
    assert robots("User-agent: *", "Disallow / for everyone").decide("/a").allowed


@pytest.mark.parametrize(
    ("rule", "target", "matches"),
    [
        ("/a%2Ab", "/a*b", True),
        ("/a%2Ab", "/a%2ab", True),
        ("/a%2Ab", "/axb", False),
        ("/a%24", "/a$b", True),
        ("/a$b", "/a$b", True),
        ("/a$b", "/a", False),
        ("/a$$", "/a$", True),
        ("/a$$", "/a$b", False),
        ("/a%2fb", "/a%2Fb", True),
        ("/a%2Fb", "/a/b", False),
        ("/a b", "/a%20b", True),
        ("/a?q='", "/a?q=%27", True),
        ("/a|b", "/a%7Cb", True),
        ("/~me", "/%7Eme", True),
        ("/100%", "/100%", True),
        ("/100%", "/100%25", True),
        ("*a", "/x/a", True),
        ("a", "/a", False),
        ("$", "/", False),
        ("/$", "/", True),
        ("/*$", "/a/b?c", True),
        ("/**a**$", "/bab", True),
        ("/a*b$", "/a/b/b", True),
        ("/a*b$", "/ab/", False),
        ("/ab*ab$", "/ab", False),
        ("/ab*b*b$", "/abb", False),
        ("*", "/anything", True),
    ],
)
def test_special_characters_as_rfc_9309_reads_them(rule: str, target: str, matches: bool) -> None:
    assert robots("User-agent: *", f"Disallow: {rule}").decide(target).allowed is not matches


@pytest.mark.parametrize(
    ("rule", "octets"), [("/a", 2), ("/a*", 3), ("/a**$", 5), ("/%61", 2), ("/é", 7), ("/%c3%a9", 7), ("/a$", 3)]
)
def test_a_rule_is_as_long_as_its_octets(rule: str, octets: int) -> None:
    assert pattern_of(rule).octets == octets


def test_length_counts_after_spelling_both_rules_alike() -> None:
    found = robots("User-agent: *", "Disallow: /%61%62%63", "Allow: /abcd")
    assert found.decide("/abcd").allowed


def test_stars_at_the_end_lengthen_a_rule() -> None:
    assert not robots("User-agent: *", "Allow: /ab", "Disallow: /a****").decide("/ab").allowed


@pytest.mark.parametrize(
    ("written", "delay", "is_clamped"),
    [
        ("0.1", timedelta(milliseconds=100), False),
        ("10", timedelta(seconds=10), False),
        (".5", timedelta(milliseconds=500), False),
        ("10s # slowly", timedelta(seconds=10), False),
        ("86400", LONGEST_CRAWL_DELAY, False),
        ("1e9", LONGEST_CRAWL_DELAY, True),
        ("1e999", LONGEST_CRAWL_DELAY, True),
        ("-1", timedelta(), True),
        ("0", timedelta(), False),
        ("x", None, False),
        ("nan", None, False),
        ("", None, False),
    ],
)
def test_a_crawl_delay_is_honoured_up_to_a_day(written: str, delay: timedelta | None, is_clamped: bool) -> None:
    found = robots("User-agent: *", f"Crawl-delay: {written}")
    assert (found.crawl_delay, found.is_clamped) == (delay, is_clamped)


def test_of_several_crawl_delays_the_longest_holds() -> None:
    lines = ("User-agent: *", "Crawl-delay: 2", "Crawl-delay: 7", "Crawl-delay: x", "Disallow:", "Crawl-delay: 3")
    assert robots(*lines).crawl_delay == timedelta(seconds=7)


def test_a_crawl_delay_is_for_the_agents_right_above_it() -> None:
    lines = ("User-agent: *", "Crawl-delay: 2", "User-agent: Delta", "Crawl-delay: 900", "Disallow: /a")
    assert robots(*lines).crawl_delay == timedelta(seconds=2)
    assert robots(*lines, agent="Delta").crawl_delay == timedelta(seconds=900)


def test_a_rule_ends_the_agents_a_crawl_delay_is_for() -> None:
    lines = ("User-agent: *", "Disallow: /a", "User-agent: Delta", "Crawl-delay: 900")
    assert robots(*lines).crawl_delay is None


def test_a_crawl_delay_ends_no_list_of_agents_that_rules_follow() -> None:
    # RFC 9309 2.2.4: what the RFC does not define must not change how the rest is read. Google reads it so too.
    found = robots("User-agent: *", "Crawl-delay: 2", "User-agent: Delta", "Disallow: /a")
    assert found.decide("/a") == Decision(False, 4, "Disallow: /a", "*, Delta")


def test_the_crawl_delay_of_everyone_is_not_ours_once_we_are_named() -> None:
    assert robots("User-agent: *", "Crawl-delay: 9", "User-agent: Headwater", "Disallow: /a").crawl_delay is None


def test_a_crawl_delay_outside_any_group_is_nobodys() -> None:
    assert robots("Crawl-delay: 9", "User-agent: *", "Disallow: /a").crawl_delay is None


def test_only_absolute_sitemaps_of_the_web_are_kept_each_once() -> None:
    found = robots(
        "Sitemap: https://a.example/s.xml",
        "SITEMAP: http://b.example:8080/s.xml?x=1",
        "Site-map: https://A.example/s.xml",
        "Sitemap: /relative.xml",
        "Sitemap: ftp://a.example/s.xml",
        "Sitemap: https://user:pass@a.example/s.xml",
        "Sitemap:",
        "Sitemap https://c.example/forgot-the-colon.xml",
    )
    assert found.sitemaps == (
        "https://a.example/s.xml",
        "http://b.example:8080/s.xml?x=1",
        "https://c.example/forgot-the-colon.xml",
    )


def test_sitemaps_are_capped() -> None:
    assert len(robots(*(f"Sitemap: https://a.example/{n}" for n in range(2 * MOST_SITEMAPS))).sitemaps) == MOST_SITEMAPS


def test_groups_can_be_shown_to_people() -> None:
    found = robots("User-agent: Delta", "Disallow: /a", "User-agent: *", "Allow: /b", "Disallow: /c")
    shown = [(str(group), [line.written for line in group.lines]) for group in found.groups]
    assert shown == [("Delta", ["Disallow: /a"]), ("*", ["Allow: /b", "Disallow: /c"])]
    assert found.ours == found.groups[1:]


def test_rules_before_any_agent_are_nobodys() -> None:
    found = robots("Disallow: /", "User-agent: *", "Disallow: /a")
    assert found.decide("/b").allowed
    assert [group.agents for group in found.groups] == [("*",)]


def test_the_stored_text_reads_again_to_the_same() -> None:
    body = b"\xef\xbb\xbf\xef\xbb\xbfUser-agent: a\nUser-agent: *\r\nDisallow: /caf\xe9\0\rCrawl-delay: 3"
    stored = robots_text(body).encode().decode()
    assert "\0" not in stored
    assert parse_robots_text(stored, "Headwater") == parse_robots(body, "Headwater")
    assert parse_robots_text(stored, "Headwater").decide("/caf%E9/1").line_number == 3
