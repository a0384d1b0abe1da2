from headwater.simweb.message import Request
from headwater.simweb.mischief.replies import Status
from headwater.simweb.script import EVERY_HOST, Rule, Script


def request(path: str, host: str = "a.test") -> Request:
    return Request("GET", host, path, "", {})


def script(*rules: Rule) -> Script:
    made = Script()
    for rule in rules:
        made.add(rule)
    return made


def code(script: Script, path: str, host: str = "a.test") -> int | None:
    taken = script.take(request(path, host))
    if taken is None:
        return None
    mischief, _ = taken
    assert isinstance(mischief, Status)
    return mischief.code


def test_the_longest_prefix_wins_and_a_named_host_before_every_host() -> None:
    made = script(
        Rule("a.test", "/", Status(500), None),
        Rule("a.test", "/news/", Status(503), None),
        Rule(EVERY_HOST, "/news/deep/", Status(429), None),
    )
    assert [code(made, path) for path in ("/x", "/news/x", "/news/deep/x")] == [500, 503, 503]
    assert [code(made, path, "b.test") for path in ("/x", "/news/deep/x")] == [None, 429]


def test_a_dollar_means_that_path_alone() -> None:
    made = script(Rule("a.test", "/$", Status(500), None))
    assert [code(made, path) for path in ("/", "/x")] == [500, None]


def test_first_times_then_normal() -> None:
    made = script(Rule("a.test", "/", Status(503), 2))
    assert [code(made, "/") for _ in range(4)] == [503, 503, None, None]


def test_an_exhausted_rule_lets_the_shorter_prefix_through() -> None:
    made = script(Rule("a.test", "/", Status(500), None), Rule("a.test", "/x", Status(503), 1))
    assert [code(made, "/x") for _ in range(2)] == [503, 500]


def test_scripting_a_place_again_replaces_it_and_removal_is_by_place() -> None:
    made = script(Rule("a.test", "/", Status(500), None), Rule("a.test", "/", Status(502), None))
    made.add(Rule("b.test", "/", Status(500), None))
    assert code(made, "/") == 502
    assert made.remove("a.test", "/") == 1
    assert code(made, "/") is None
    assert made.remove() == 1
    assert not made
