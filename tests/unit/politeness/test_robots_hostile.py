import pytest

from headwater.politeness.robots import LARGEST_BYTES, parse_robots, pattern_of, robots_text

RULES = "User-agent: *\nDisallow: /private\n"


def padded(size: int, last: bytes) -> bytes:
    """Rules, then comments up to `size` bytes, the last of them being `last`."""
    room = size - len(RULES) - len(last)
    comments = (b"#" * 99 + b"\n") * (room // 100) + b"#" * (room % 100 - 1) + b"\n"
    return RULES.encode() + comments + last


@pytest.mark.parametrize("size", [499_000, LARGEST_BYTES])
def test_a_file_up_to_the_limit_is_read_to_its_end(size: int) -> None:
    body = padded(size, b"Disallow: /last")
    assert len(body) == size
    assert not parse_robots(body, "Headwater").decide("/last").allowed


def test_a_line_across_the_limit_is_dropped_not_cut() -> None:
    body = padded(LARGEST_BYTES, b"Disallow: /") + b"private-too\nDisallow: /beyond\n"
    found = parse_robots(body, "Headwater")
    assert found.decide("/a").allowed
    assert found.decide("/beyond").allowed
    assert not found.decide("/private").allowed


def test_a_line_that_ends_at_the_limit_is_kept() -> None:
    body = padded(LARGEST_BYTES, b"Disallow: /last\n") + b"Disallow: /beyond\n"
    found = parse_robots(body, "Headwater")
    assert [found.decide(path).allowed for path in ("/last", "/beyond")] == [False, True]


def test_of_fifty_megabytes_only_the_limit_is_read() -> None:
    body = RULES.encode() + b"#" * 50_000_000
    assert robots_text(body) == RULES
    assert not parse_robots(body, "Headwater").decide("/private").allowed


@pytest.mark.parametrize("length", [16_383, 16_384, 16_664, 20_000, 400_000])
def test_a_long_line_leaves_its_neighbours_alone(length: int) -> None:
    text = f"User-agent: *\nDisallow: /{'a' * length}\nDisallow: /private\n"
    found = parse_robots(text.encode(), "Headwater")
    assert found.decide("/private").line_number == 3
    assert found.decide("/aaa").allowed


@pytest.mark.parametrize(
    "body",
    [
        RULES.encode("utf-8-sig"),
        RULES.encode("utf-16"),
        b"\xfe\xff" + RULES.encode("utf-16-be"),
        RULES.encode("utf-16-le"),
        RULES.encode("utf-32"),
        RULES.replace("\n", "\r").encode(),
        RULES.replace("\n", "\n\r").encode(),
        RULES.replace("\n", "\0\n\0").encode(),
        RULES.replace("/p", "\u00a0/p").encode(),
        RULES.replace("*", "*\u00a0").encode(),
    ],
    ids=["bom", "utf-16", "utf-16-be", "utf-16 bare", "utf-32", "CR", "LF CR", "NUL", "nbsp before", "nbsp behind"],
)
def test_the_rules_are_read_from_any_encoding(body: bytes) -> None:
    found = parse_robots(body, "Headwater")
    assert not found.decide("/private/1").allowed
    assert found.decide("/public").allowed


def test_half_a_character_of_utf_16_is_no_harm() -> None:
    assert not parse_robots((RULES + "\n").encode("utf-16") + b"\x0a", "Headwater").decide("/private").allowed


def test_only_line_ends_end_lines() -> None:
    found = parse_robots("User-agent: *\nDisallow: /a\u2028Allow: /\x0bAllow: /\x85Allow: /".encode(), "Headwater")
    assert len(found.ours[0].lines) == 1


def test_a_page_instead_of_rules_allows() -> None:
    page = b"<!doctype html>\n<html><title>404</title>\n<body>\nUser-agents: none\n<p>Disallow: /\nDisallow: /\n</html>"
    found = parse_robots(page, "Headwater")
    assert found.decide("/a").allowed
    assert found.groups == ()


class Counted(str):
    """A path that counts how often it is searched."""

    __slots__ = ("searches",)
    searches: int

    def find(self, *wanted: object) -> int:
        self.searches += 1
        return super().find(*wanted)  # type: ignore[arg-type]


@pytest.mark.parametrize("stars", [8, 24, 200])
def test_each_piece_of_a_rule_is_searched_once(stars: int) -> None:
    path = Counted("/" + "a" * 2_000)
    path.searches = 0
    assert not pattern_of("/" + "*a" * stars + "*b").matches(path)
    assert path.searches == stars + 1


def test_stars_against_a_long_path_are_decided() -> None:
    found = parse_robots(b"User-agent: *\nDisallow: /*a*a*a*a*a*a*a*a*b\n", "Headwater")
    assert found.decide("/" + "a" * 2_000).allowed
    assert not found.decide("/" + "a" * 2_000 + "b").allowed


@pytest.mark.parametrize("rule", ["/dir{}/x", "/*dir{}/x", "/dir{}/x$"])
def test_ten_thousand_rules_still_find_the_one(rule: str) -> None:
    body = "User-agent: *\n" + "".join(f"Disallow: {rule.format(number)}\n" for number in range(10_000))
    found = parse_robots(body.encode(), "Headwater")
    assert found.decide("/dir7777/x").line_number == 7779
    assert found.decide("/dir/7777").allowed


def test_a_crowd_of_rules_shares_the_name_of_its_crowd_of_agents() -> None:
    body = "User-agent: *\n" * 5_000 + "".join(f"Disallow: /{number}\n" for number in range(5_000))
    found = parse_robots(body.encode(), "Headwater")
    assert found.decide("/1").group is found.decide("/2").group
