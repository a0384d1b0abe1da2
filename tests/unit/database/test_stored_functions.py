import pytest

from headwater.database.applied import Applied
from headwater.database.former import LAST
from headwater.database.migrate import compare, known_migrations, require_understood
from headwater.database.stored_functions import Function, differing, in_order, known_functions, parse_functions
from headwater.errors import MigrationFailed


def sql(name: str, calls: str = "1") -> Function:
    return Function(name, f"create function {name}() returns int language sql as 'select {calls}'")


def test_a_file_makes_the_function_it_is_named_after() -> None:
    (one,) = parse_functions({"one.sql": sql("one").text})
    assert one == sql("one")


@pytest.mark.parametrize("text", ["", "create table one ()", sql("two").text, f"{sql('one').text};\n{sql('two').text}"])
def test_a_file_that_makes_anything_else_is_refused(text: str) -> None:
    with pytest.raises(MigrationFailed, match=r"one.sql has to make the function it is named after"):
        parse_functions({"one.sql": text})


def test_line_endings_do_not_change_a_checksum() -> None:
    unix = parse_functions({"one.sql": f"-- why\n{sql('one').text}"})
    windows = parse_functions({"one.sql": f"-- why\r\n{sql('one').text}"})
    assert [one.checksum for one in unix] == [one.checksum for one in windows]


def test_a_body_that_is_read_when_it_is_made_comes_after_those_it_calls() -> None:
    names = [one.name for one in in_order([sql("a", "b()"), sql("b", "c()"), sql("c")])]
    assert names == ["c", "b", "a"]


def test_bodies_that_are_read_when_they_run_may_call_each_other() -> None:
    late = [
        Function(name, f"create function {name}() returns void language plpgsql as $$ begin perform {other}(); end $$")
        for name, other in (("a", "b"), ("b", "a"))
    ]
    assert {one.name for one in in_order(late)} == {"a", "b"}


def test_functions_differ_where_one_is_missing_or_changed_or_gone() -> None:
    made = {"same": sql("same").checksum, "changed": "another", "gone": "some"}
    assert differing([sql("same"), sql("changed"), sql("missing")], made) == ("changed", "gone", "missing")


def test_each_of_our_functions_says_what_it_is_for() -> None:
    assert not [one.name for one in known_functions() if not one.text.startswith("-- ")]


def test_a_state_before_the_last_one_is_refused_with_the_way_to_it() -> None:
    found = compare(known_migrations(), [Applied(1, "foundation", "a"), Applied(25, "views_refuse_writes", "b")])
    with pytest.raises(MigrationFailed, match="stands at 0025_views_refuse_writes") as caught:
        require_understood(found)
    assert f"Migrate it to {LAST}" in caught.value.fix


def test_the_last_state_of_before_says_how_it_is_taken_over() -> None:
    with pytest.raises(MigrationFailed) as caught:
        require_understood(compare(known_migrations(), [Applied(1, "foundation", "a"), LAST]))
    assert "by: headwater db migrate" in caught.value.fix
