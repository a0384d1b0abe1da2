import pytest

from headwater.discover.api.paths import json_path_from, path_from
from headwater.errors import UsageError

LIST = [{"c": 1, "d e": [1, 2]}, {"c": 2, "d e": [3]}]
DOCUMENT = {"a": {"b": LIST}, "job-title": "x"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.a.b[*].c", [1, 2]),
        ("$['a'].b[0].c", 1),
        ('$.a["b"][-1].c', 2),
        ("a.b", LIST),
        ("job-title", "x"),
        ("$.a.b[*]['d e'][*]", [1, 2, 3]),
        ("$", DOCUMENT),
        ("$.none.at.all", None),
    ],
)
def test_the_simple_part_of_json_path(path: str, value: object) -> None:
    assert json_path_from(path).find(DOCUMENT) == value


@pytest.mark.parametrize("path", ["$..c", "$.a.*", "$.a[?(@.b)]", "$.a[", "$.a[1:2]", "a b", "$." + "a" * 300])
def test_the_rest_of_it_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="not understood"):
        json_path_from(path)


def test_jmespath_is_jmespath_and_a_dollar_means_json_path() -> None:
    assert path_from("a.b[?c > `1`].c | [0]").find(DOCUMENT) == 2
    assert path_from("$.a.b[*].c").find(DOCUMENT) == [1, 2]


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("a[", "cannot be used"),
        ("", "1 to 300"),
        ("a" * 301, "1 to 300"),
        ("lenth(a)", "calls lenth"),
        ("[@,@][]|[@,@][]", "too much"),
        ("to_string(" * 5 + "a" + ")" * 5, "too much"),
        ("[" * 250, "cannot be used"),
    ],
)
def test_a_bad_expression_is_refused_in_words(expression: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        path_from(expression)


@pytest.mark.parametrize("expression", ["length(a)", "sort_by(a, &b)", "join(',', a)", "sum(a)", "max_by(a, &b)"])
@pytest.mark.parametrize("value", [1, None, "x", [1, "a", None], [{"b": 1}, {"b": "x"}], {}])
def test_data_of_the_wrong_kind_is_no_error(expression: str, value: object) -> None:
    path_from(expression).find({"a": value})


def test_equal_texts_are_equal_paths() -> None:
    assert path_from("a.b") == path_from("a.b") != path_from("a.c")
