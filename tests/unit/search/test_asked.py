"""What a person asked, as a tree of words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.search.asked import (
    AllOf,
    AnyOf,
    AskedTree,
    AskedWords,
    Without,
    asked_in,
    every_word,
    left_out_of,
    words_wanted,
)


def words(*said: str | None) -> AskedWords:
    return AskedWords(said)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("", None),
        ("'cat'", words("cat")),
        ("'cat' & 'dog'", AllOf((words("cat"), words("dog")))),
        ("'cat' & 'cat'", words("cat")),
        ("'new' <-> 'york' | !'sport'", AnyOf((words("new", "york"), Without(words("sport"))))),
        ("'a' | 'b' & 'c' & !'d'", AnyOf((words("a"), AllOf((words("b"), words("c"), Without(words("d"))))))),
        ("!( 'new' <-> 'york' ) & 'x'", AllOf((Without(words("new", "york")), words("x")))),
        ("'a' <-> 'well-known' <-> 'well' <-> 'known' <-> 'man'", words("a", "well-known", "man")),
        ("'example.org/path' <-> 'example.org' <-> '/path'", words("example.org/path")),
        ("'mi' <-> '-2000'", words("mi", "-2000")),
        ("'it''s' & 'a\\\\b'", AllOf((words("it's"), words("a\\b")))),
        ("'a' <3> 'b'", words("a", None, None, "b")),
    ],
)
def test_a_question_of_postgresql_is_read(question: str, asked: AskedTree | None) -> None:
    assert asked_in(question) == asked


@pytest.mark.parametrize(
    ("asked", "rest"),
    [
        (words("the"), None),
        (words("the", "cats", "of"), words("cats")),
        (words("budget", "of", "the", "town"), words("budget", None, None, "town")),
        (AllOf((words("the"), words("cat"))), words("cat")),
        (AnyOf((words("the"), words("cat"))), words("cat")),
        (AllOf((words("cat"), Without(words("the")))), words("cat")),
        (Without(words("the")), None),
        (AllOf((words("the"), words("of"))), None),
        (AllOf((words("the", "cat"), words("cat"))), words("cat")),
    ],
)
def test_words_that_a_language_leaves_out_ask_for_nothing(asked: AskedTree, rest: AskedTree | None) -> None:
    assert left_out_of(asked, {"the", "of"}) == rest


def test_words_that_are_unwanted_are_not_shown() -> None:
    asked = AnyOf((words("new", None, "york"), AllOf((words("x"), Without(words("sport"))))))
    assert list(words_wanted(asked)) == [words("new", None, "york"), words("x")]
    assert every_word(asked) == {"new", "york", "x", "sport"}


def _both(one: AskedTree, other: AskedTree, is_all: bool) -> AskedTree:
    return AllOf((one, other)) if is_all else AnyOf((one, other))


LEAF = st.lists(st.text("abc", min_size=1), min_size=1, max_size=3).map(lambda said: AskedWords(tuple(said)))
TREE = st.recursive(LEAF, lambda inner: st.builds(Without, inner) | st.builds(_both, inner, inner, st.booleans()))


@given(TREE)
def test_what_is_written_as_postgresql_does_is_read_back_with_all_its_words(asked: AskedTree) -> None:
    read = asked_in(_written(asked))
    assert read is not None
    assert every_word(read) == every_word(asked)
    assert asked_in(_written(read)) == read


def _written(asked: AskedTree) -> str:
    match asked:
        case AskedWords(said):
            return " <-> ".join(f"'{word}'" for word in said)
        case Without(part):
            return f"!( {_written(part)} )"
        case AllOf(parts):
            return " & ".join(f"( {_written(part)} )" for part in parts)
        case AnyOf(parts):
            return " | ".join(f"( {_written(part)} )" for part in parts)
