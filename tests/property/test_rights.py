"""Whatever is said, wherever and however often: the strictest word stands, and nothing is ever made up."""

from hypothesis import given
from hypothesis import strategies as st

from headwater.fetch.tdmrep import tdm_rules_from
from headwater.politeness.robots import parse_robots
from headwater.rights.headers import header_statements, price_in
from headwater.rights.preferences import preferences_in
from headwater.rights.record import (
    LONGEST_SAID,
    MOST_KEPT,
    Convention,
    PageUse,
    Right,
    StatedIn,
    UseStatement,
    restated,
    rights_from,
    statement,
    statement_from,
)

STATEMENTS = st.builds(
    lambda convention, place, said, allowed, refused: statement(
        convention, place, said, allowed=allowed, refused=refused
    ),
    st.sampled_from(Convention),
    st.sampled_from(StatedIn),
    st.text(max_size=20),
    st.sets(st.sampled_from(PageUse)),
    st.sets(st.sampled_from(PageUse)),
)


@given(st.lists(STATEMENTS, max_size=30))
def test_the_most_restrictive_wins_in_any_order(told: list[UseStatement]) -> None:
    rights = rights_from(told)
    for use in PageUse:
        said = {
            Right.REFUSED if use in one.refused else Right.ALLOWED for one in told if use in one.refused + one.allowed
        }
        expected = Right.REFUSED if Right.REFUSED in said else Right.ALLOWED if said else Right.UNKNOWN
        assert rights.of(use) is expected
    assert rights_from(list(reversed(told))).marks == rights.marks
    assert len(rights.statements) <= MOST_KEPT


@given(st.lists(STATEMENTS, max_size=10), STATEMENTS)
def test_one_more_statement_never_loosens(told: list[UseStatement], more: UseStatement) -> None:
    before, after = rights_from(told), rights_from([*told, more])
    assert before.refused <= after.refused


@given(st.lists(STATEMENTS, max_size=10))
def test_what_is_stored_comes_back(told: list[UseStatement]) -> None:
    rights = rights_from(told)
    assert tuple(map(statement_from, rights.said)) == rights.statements
    assert restated(rights.said, rights.statements, frozenset(StatedIn)).said == rights.said


@given(st.binary(max_size=400), st.text(max_size=40))
def test_no_robots_txt_breaks_it_and_use_never_changes_rules(body: bytes, path: str) -> None:
    head = (
        b"User-agent: *\nContent-Usage: /" + body.replace(b"\n", b" ").replace(b"\r", b" ") + b"\nDisallow: /private\n"
    )
    robots = parse_robots(head, "Headwater")
    for one in robots.statements_on(path):
        assert len(one.said) <= LONGEST_SAID
    assert not robots.decide("/private").allowed
    assert robots.decide("/public").allowed


@given(st.text(max_size=200))
def test_no_value_breaks_a_reader(value: str) -> None:
    preferences_in(Convention.CONTENT_USAGE, StatedIn.HEADER, value)
    for name in ("content-usage", "tdm-reservation", "tdm-policy", "link", "www-authenticate", "crawler-price"):
        header_statements([(name, value), ("tdm-reservation", "1")], "https://a.example/", [value])
        price_in([(name, value)], "https://a.example/")


@given(st.binary(max_size=200))
def test_no_tdmrep_breaks_its_reader(body: bytes) -> None:
    tdm_rules_from(body).statement_on("/a")
