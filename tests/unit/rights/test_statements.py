"""Each convention as publishers write it, and as they write it wrongly."""

import pytest
from lxml import etree

from headwater.fetch.tdmrep import tdm_rules_from
from headwater.rights.headers import CrawlerPrice, header_statements, price_in, tdm_statement
from headwater.rights.preferences import path_and_pairs, preferences_in
from headwater.rights.record import Convention, PageUse, Right, StatedIn, UseStatement, rights_from
from headwater.rights.rsl import rsl_statements, statements_in_feed

URL = "https://a.example/story"
RSL_LINK = '</licence.xml>; rel="license"; type="application/rsl+xml"'


def usage(value: str) -> UseStatement | None:
    return preferences_in(Convention.CONTENT_USAGE, StatedIn.HEADER, value)


@pytest.mark.parametrize(
    ("value", "allowed", "refused"),
    [
        ("train-ai=n", (), ("train",)),
        ("train-ai=n, search=y", ("search",), ("train",)),
        ("search=yes, ai-input=no, ai-train=no", ("search",), ("train", "input")),
        ("ai-train=yes,search=yes,ai-input=yes", ("train", "input", "search"), ()),
        ("Train-AI = N", (), ("train",)),
        ("train-ai=y;until=2027, train-ai=n", (), ("train",)),
        ("tdm=n", (), ("train", "tdm")),
        ("tdm=y", ("tdm",), ()),
        ("train-ai=?0", (), ("train",)),
        ("train-ai=maybe", (), ()),
        ("some-new-use=n", (), ()),
    ],
)
def test_preferences_are_read_by_their_vocabulary(
    value: str, allowed: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    told = usage(value)
    assert told is not None
    assert (told.allowed, told.refused) == (allowed, refused)
    assert told.said == " ".join(value.split()), "and an unknown key is kept as it was written"


@pytest.mark.parametrize("value", ["", "n", "train-ai", "=", ", ,", "<script>", "yes"])
def test_what_holds_no_pair_is_no_statement(value: str) -> None:
    assert usage(value) is None


def test_a_line_may_name_a_path() -> None:
    assert path_and_pairs("/news/ train-ai=n") == ("/news/", "train-ai=n")
    assert path_and_pairs("train-ai=n") == ("/", "train-ai=n")
    assert path_and_pairs("/news/") == ("/news/", "")


def said_by(*headers: tuple[str, str], words: tuple[str, ...] = ()) -> list[UseStatement]:
    return header_statements(headers, URL, words)


def test_headers_of_all_conventions() -> None:
    [usage, tdm, licence, asked, noai] = said_by(
        ("Content-Usage", "train-ai=n"),
        ("TDM-Reservation", "1"),
        ("tdm-policy", "/policy.json"),
        ("Link", f"<https://a.example/next>; rel=next, {RSL_LINK}"),
        ("WWW-Authenticate", 'License realm="x"'),
        words=("noai", "index"),
    )
    assert (usage.convention, usage.refused) == (Convention.CONTENT_USAGE, (PageUse.TRAIN,))
    assert (tdm.refused, tdm.licence) == ((PageUse.TRAIN, PageUse.TDM), "https://a.example/policy.json")
    assert (licence.convention, licence.licence) == (Convention.RSL, "https://a.example/licence.xml")
    assert (licence.allowed, licence.refused) == ((), ()), "terms that are not read are neither yes nor no"
    assert asked.convention is Convention.RSL
    assert noai.refused == (PageUse.TRAIN, PageUse.IMAGES)


@pytest.mark.parametrize(
    "header",
    [
        ("tdm-reservation", "yes"),
        ("tdm-reservation", ""),
        ("Link", '<https://a.example/cc>; rel="license"'),
        ("Link", '<https://a.example/x>; rel="next"; type="application/rsl+xml"'),
        ("Link", '<javascript:alert(1)>; rel="license"; type="application/rsl+xml"'),
        ("Link", "<<<>>>;;;rel=license"),
        ("WWW-Authenticate", "Basic"),
        ("X-Other", "train-ai=n"),
    ],
)
def test_headers_that_say_nothing(header: tuple[str, str]) -> None:
    assert said_by(header) == []


def test_a_reservation_of_nothing_frees_mining_and_no_more() -> None:
    free = tdm_statement(StatedIn.PAGE, "0", "")
    assert free is not None
    assert free.allowed == (PageUse.TDM,)


def test_a_price_and_a_licence_are_read_for_people() -> None:
    asked = price_in([("Crawler-Price", " USD  0.02 "), ("link", RSL_LINK)], URL)
    assert asked == CrawlerPrice("USD 0.02", "https://a.example/licence.xml")
    assert str(asked) == "crawler-price USD 0.02, licence https://a.example/licence.xml"
    assert not any(price_in([], URL))


@pytest.mark.parametrize(
    ("body", "path", "expected"),
    [
        (b'[{"location": "/", "tdm-reservation": 1}]', "/story", Right.REFUSED),
        (
            b'[{"location": "/free/", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}]',
            "/free/a",
            "allowed",
        ),
        (
            b'[{"location": "/", "tdm-reservation": 1}, {"location": "/free/", "tdm-reservation": 0}]',
            "/free/a",
            "refused",
        ),
        (b'[{"location": "/news/*.html$", "tdm-reservation": 1}]', "/news/a.html", Right.REFUSED),
        (b'[{"location": "/news/*.html$", "tdm-reservation": 1}]', "/news/a.html?b", Right.UNKNOWN),
        (b'{"location": "/", "tdm-reservation": "1"}', "/story", Right.REFUSED),
        (b'[{"location": "/", "tdm-reservation": true}]', "/story", Right.UNKNOWN),
        (b'[{"location": 7, "tdm-reservation": 1}, 5, null, [], {}]', "/story", Right.UNKNOWN),
        (b"<html>not here</html>", "/story", Right.UNKNOWN),
        (b"", "/story", Right.UNKNOWN),
    ],
)
def test_tdmrep_json_by_the_first_rule_that_matches(body: bytes, path: str, expected: str) -> None:
    told = tdm_rules_from(body).statement_on(path)
    assert rights_from([told] if told else []).of(PageUse.TDM) == expected


def feed_element(terms: str) -> list[UseStatement]:
    space = "https://rslstandard.org/rsl"
    return rsl_statements(etree.fromstring(f'<item xmlns:rsl="{space}"><title>x</title>{terms}</item>'))


def test_terms_in_a_feed() -> None:
    [told] = feed_element(
        '<rsl:content url="https://a.example/l"><rsl:license><rsl:permits type="usage">search</rsl:permits>'
        '<rsl:prohibits type="usage">ai-train, ai-input</rsl:prohibits></rsl:license></rsl:content>'
    )
    assert (told.allowed, told.refused) == ((PageUse.SEARCH,), (PageUse.TRAIN, PageUse.INPUT))
    assert told.licence == "https://a.example/l"
    assert statements_in_feed([told.as_dict()]) == (told,)


def test_a_licence_that_costs_permits_nothing_by_itself() -> None:
    [told] = feed_element(
        '<rsl:content url="https://a.example/l"><rsl:license><rsl:permits type="usage">ai-train</rsl:permits>'
        '<rsl:payment type="crawl"/></rsl:license></rsl:content>'
    )
    assert told.allowed == ()


@pytest.mark.parametrize("stored", [None, 5, "x", [5], [{}], [{"convention": "rsl", "place": "header"}]])
def test_what_another_program_keeps_under_our_name_says_nothing(stored: object) -> None:
    assert statements_in_feed(stored) == ()
