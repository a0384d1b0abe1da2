import pytest

from headwater.database.queries import Queries, all_query_files, load_queries, parse_queries
from headwater.errors import NotFound, UsageError

TWO = """
-- What this file is about.

-- name: first_thing
-- Does the first thing.
-- Then says so.
select 1;

-- name: second_thing
-- Does the second.
select a
-- a remark inside
from b where c = ';'
"""


def test_a_query_has_a_name_a_purpose_and_its_sql() -> None:
    first, second = parse_queries(TWO, "here").values()
    assert (first.name, first.purpose, first.sql) == ("first_thing", "Does the first thing. Then says so.", "select 1")
    assert second.sql == "select a\n-- a remark inside\nfrom b where c = ';'"


def test_queries_are_found_by_attribute_and_by_key() -> None:
    queries = Queries("here", parse_queries(TWO, "here"))
    assert queries.first_thing == queries["first_thing"] == "select 1"
    assert [query.name for query in queries] == ["first_thing", "second_thing"]


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    queries = Queries("queries.sql of x", parse_queries(TWO, "here"))
    with pytest.raises(NotFound, match=r"no query 'third' in queries.sql of x") as caught:
        _ = queries.third
    assert "first_thing, second_thing" in caught.value.fix


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("-- name: a\n-- p\nselect 1\n-- name: a\n-- p\nselect 2", "'a' stands twice in here"),
        ("-- name: a\n-- p\n-- name: b\n-- p\nselect 2", "'a' in here is empty"),
        ("-- name: a\n-- p\n;", "'a' in here is empty"),
        ("-- name: A-b\nselect 1", "'A-b' in here is not a name"),
        ("-- name:\nselect 1", "'' in here is not a name"),
    ],
)
def test_a_malformed_file_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_queries(text, "here")


def test_a_package_is_read_once() -> None:
    assert load_queries("headwater.database") is load_queries("headwater.database")


def test_a_package_without_queries_says_so() -> None:
    with pytest.raises(NotFound, match=r"no queries.sql of headwater.nowhere"):
        load_queries("headwater.nowhere")


def test_our_own_files_are_found() -> None:
    assert "headwater.database" in all_query_files()


NAMED = """
-- name: add_thing
-- A thing, with all that may look like a name of a value.
insert into things (url, name, at) values (:url::text, coalesce(:name, 'a :colon', "odd:name", $$ :b $$), now()) -- :c
on conflict (url) do update set name = :name /* :aside */;
"""


def things() -> Queries:
    return Queries("queries.sql of x", parse_queries(NAMED, "here"))


def test_names_of_values_become_numbers_in_the_order_they_first_stand() -> None:
    assert things().add_thing == (
        """insert into things (url, name, at) values """
        """($1::text, coalesce($2, 'a :colon', "odd:name", $$ :b $$), now()) -- :c\n"""
        """on conflict (url) do update set name = $2 /* :aside */"""
    )


def test_a_statement_with_names_is_called_with_them() -> None:
    statement, *values = things().add_thing(name="a name", url="https://a.example/")
    assert (statement, values) == (things().add_thing, ["https://a.example/", "a name"])


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"url": 1}, r"The query 'add_thing' lacks name\."),
        ({"url": 1, "name": 2, "size": 3}, r"The query 'add_thing' has no size\."),
        ({"size": 3}, r"The query 'add_thing' lacks url, name and has no size\."),
    ],
)
def test_names_that_are_missing_or_unknown_are_told(values: dict[str, object], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        things().add_thing(**values)


def test_names_and_numbers_do_not_stand_together() -> None:
    with pytest.raises(UsageError, match="both with names and with numbers"):
        parse_queries("-- name: one\nselect :a, $1", "here")
