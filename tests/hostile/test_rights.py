"""Statements about use from somebody who means harm: bounded in time, in size, and in what is kept of them."""

from time import process_time

import pytest
from lxml import etree

from headwater.fetch.tdmrep import LARGEST_BYTES as LARGEST_TDMREP_BYTES
from headwater.fetch.tdmrep import MOST_RULES, tdm_rules_from
from headwater.politeness.robots import LARGEST_BYTES, parse_robots
from headwater.rights.headers import MOST_HEADERS, header_statements
from headwater.rights.record import LONGEST_LICENCE, LONGEST_SAID, MOST_KEPT, rights_from
from headwater.rights.rsl import rsl_statements

URL = "https://a.example/"
SECONDS = 1.0
LONG = 1_000_000


@pytest.mark.parametrize(
    "header",
    [
        ("Content-Usage", "train-ai=n, " * LONG),
        ("Content-Usage", "a" * LONG + "=n"),
        ("Content-Usage", "=" * LONG),
        ("Link", "<" * LONG),
        ("Link", "<https://a.example/>" * LONG),
        ("Link", '<https://a.example/>; rel="license' + " license" * LONG),
        ("Link", "<a>" + "; rel" * LONG),
        ("tdm-policy", "https://" + "a" * LONG),
        ("WWW-Authenticate", "License " + "x" * LONG),
    ],
    ids=lambda header: f"{header[0]}-{header[1][:12]}",
)
def test_a_long_header_is_cut(header: tuple[str, str]) -> None:
    began = process_time()
    rights = rights_from(header_statements([header, ("tdm-reservation", "1")], URL, []))
    assert process_time() - began < SECONDS
    assert all(len(one.said) <= LONGEST_SAID and len(one.licence) <= LONGEST_LICENCE for one in rights.statements)


def test_a_flood_of_headers_is_cut_and_a_refusal_in_it_counts() -> None:
    flood = [("Content-Usage", f"search=y, x{n}=y") for n in range(MOST_HEADERS - 1)]
    rights = rights_from(header_statements([*flood, ("Content-Usage", "train-ai=n"), *flood * 1_000], URL, []))
    assert len(rights.statements) == MOST_KEPT
    assert rights.marks == ["train=refused", "search=allowed"]


@pytest.mark.parametrize(
    "body",
    [
        b"[" * (LARGEST_TDMREP_BYTES - 1),
        b'{"a":' * 40_000,
        b'[{"location": "/' + b"*a" * 100_000 + b'", "tdm-reservation": 1}]',
        b'[{"location": "/", "tdm-reservation": 1e400}]',
        b'[{"location": "/", "tdm-reservation": ' + b"1" * 5_000 + b"}]",
        b"x" * 10_000_000,
        b"[" + b'{"location": "/", "tdm-reservation": 1},' * 250_000 + b"{}]",
    ],
    ids=["deep list", "deep object", "long pattern", "infinite", "long number", "10 MB", "10 MB of rules"],
)
def test_a_tdmrep_that_is_meant_to_hurt_says_nothing(body: bytes) -> None:
    began = process_time()
    assert tdm_rules_from(body).statement_on("/" + "a" * 2_000) is None
    assert process_time() - began < SECONDS


def test_a_tdmrep_of_many_rules_is_cut() -> None:
    body = b"[" + b",".join(b'{"location":"/%d","tdm-reservation":1}' % n for n in range(5_000)) + b"]"
    assert len(tdm_rules_from(body).rules) == MOST_RULES


def test_a_robots_txt_full_of_usage_is_read_in_time() -> None:
    line = b"Content-Usage: /*a*b*c*d$ " + b"train-ai=n, " * 200 + b"\n"
    body = b"User-agent: *\n" + line * (LARGEST_BYTES // len(line))
    began = process_time()
    robots = parse_robots(body, "Headwater")
    rights = rights_from(robots.statements_on("/" + "abc" * 700 + "d"))
    assert process_time() - began < SECONDS
    assert rights.marks == ["train=refused"]


def test_terms_in_a_feed_are_cut() -> None:
    space = "https://rslstandard.org/rsl"
    many = '<r:permits type="usage">' + "ai-train " * 10_000 + "</r:permits>"
    deep = "<r:license>" * 200 + many + "</r:license>" * 200
    root = etree.fromstring(f'<item xmlns:r="{space}">' + f"<r:content>{many * 20}{deep}</r:content>" * 100 + "</item>")
    began = process_time()
    told = rsl_statements(root)
    assert process_time() - began < SECONDS
    assert len(told) == 50
    assert all(len(one.said) <= LONGEST_SAID for one in told)
