from hypothesis import example, given
from hypothesis import strategies as st

from headwater.politeness.robots import END, normalise_path, parse_robots, parse_robots_text, pattern_of, robots_text
from headwater.simweb.rules import allows, rules_for

any_text = st.text(st.characters(exclude_categories=()))
keys = st.sampled_from(
    ["User-agent", "user agent", "Disallow", "Disalow", "Allow", "Crawl-delay", "Sitemap", "Host", "x"]
)
values = st.one_of(
    st.text("/ab*$%4é1?=", max_size=8),
    st.sampled_from(["*", "a", "Headwater", "/", "1e9", "https://a.example/"]),
    any_text,
)
separators = st.sampled_from([":", ": ", " : ", " ", "::", ""])
line_ends = st.sampled_from(["\n", "\r", "\r\n", "\n\n", "\0\n", "#c\n"])
line_texts = st.builds("{}{}{}{}".format, keys, separators, values, line_ends)
likely_bodies = st.lists(line_texts, max_size=12).map(lambda lines: "".join(lines).encode(errors="surrogatepass"))
marks = st.sampled_from([b"", b"\xef\xbb\xbf", b"\xef", b"\xff\xfe", b"\xfe\xff", b"\0"])
bodies = st.builds(bytes.__add__, marks, st.one_of(st.binary(max_size=200), likely_bodies))

# Few letters, so that random rules do meet random paths.
rule_paths = st.builds("{}{}".format, st.text("/ab*", max_size=8), st.sampled_from(["", "$"]))
plain_paths = st.text("/ab", max_size=12).map("/".__add__)
names = st.sampled_from(["*", "Headwater", "delta", "Marsh"])
plain_lines = st.one_of(
    st.builds("User-agent: {}".format, names),
    st.builds("{}: {}".format, st.sampled_from(["Allow", "Disallow"]), rule_paths),
    st.just("Sitemap: https://a.example/"),
)


def is_matched(rule: str, path: str) -> bool:
    """Cell by cell: row `i` says which ends of the path the first `i` characters of the rule can reach."""
    body = rule.removesuffix("$")
    reached = {0}
    for character in body:
        if character == "*":
            reached = set(range(min(reached, default=len(path) + 1), len(path) + 1))
        else:
            reached = {at + 1 for at in reached if path[at : at + 1] == character}
    return len(path) in reached if rule.endswith("$") else bool(reached)


@given(bodies, any_text, any_text)
@example(b"", "", "/\ud800")
def test_no_bytes_and_no_path_ever_raise(body: bytes, agent: str, target: str) -> None:
    parse_robots(body, agent).decide(target)


@given(bodies, any_text)
def test_equal_bytes_give_equal_decisions(body: bytes, target: str) -> None:
    first, second = (parse_robots(body, "Headwater") for _ in range(2))
    assert first == second
    assert first.decide(target) == second.decide(target)


@given(bodies, any_text)
def test_what_is_stored_decides_like_what_was_fetched(body: bytes, target: str) -> None:
    stored = robots_text(body).encode().decode()
    assert "\0" not in stored
    again, fetched = parse_robots_text(stored, "Headwater"), parse_robots(body, "Headwater")
    assert again == fetched
    assert again.decide(target) == fetched.decide(target)


@given(rule_paths, plain_paths)
def test_a_rule_matches_like_the_obvious_slow_way(rule: str, path: str) -> None:
    assert pattern_of(rule).matches(path + END) is is_matched(rule, path)


@given(names, st.lists(plain_lines, max_size=12), plain_paths)
def test_we_read_a_file_as_its_owner_does(first: str, lines: list[str], path: str) -> None:
    text = "\n".join([f"User-agent: {first}", *lines])
    ours = parse_robots(text.encode(), "Headwater").decide(path)
    assert ours.allowed is allows(rules_for("Headwater", text), path)


@given(any_text)
def test_spelling_a_path_twice_changes_nothing(text: str) -> None:
    assert normalise_path(normalise_path(text)) == normalise_path(text)
