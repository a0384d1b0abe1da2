"""The questions Google's own reader is tested with, asked of ours, and where we answer otherwise on purpose."""

from dataclasses import dataclass

import pytest

from headwater.politeness.robots import Key, parse_robots, pattern_of, records_of, robots_text, token_of
from headwater.urls.canonical import canonicalise


@dataclass(frozen=True)
class Case:
    claim: str
    lines: tuple[str, ...]
    allowed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    agents: tuple[str, ...] = ("Brook",)

    @property
    def body(self) -> bytes:
        return "\n".join(self.lines).encode()


LONG = "/x/" + "a" * 16_651
OTHER_LONG = "/x/" + "b" * 16_651

GROUPS = (
    "allow: /river/bed/",
    "",
    "user-agent: Brook",
    "disallow: /",
    "allow: /moss/",
    "user-agent: Delta",
    "disallow: /",
    "allow: /reed/",
    "",
    "",
    "allow: /silt/",
    "user-agent: Marsh",
    "",
    "user-agent: Brook",
    "allow: /fern/",
    "disallow: /",
)

CASES = [
    Case("an empty file allows", (), ("/", "/a/b")),
    Case("an agent without a name is nobody's", ("user-agent: Brook", "disallow: /"), ("/",), agents=("",)),
    Case("a rule for us holds from the root", ("user-agent: Brook", "disallow: /"), (), ("/", "", "/a/b")),
    Case("unknown keys say nothing", ("foo: Brook", "bar: /"), ("/a/b",)),
    Case("a forgotten colon is understood", ("user-agent Brook", "disallow /"), (), ("/a/b",)),
    Case("our groups are one", GROUPS, ("/moss/1", "/fern/1"), ("/reed/1", "/river/bed/")),
    Case("blank lines end no group", GROUPS, ("/reed/1", "/silt/1"), ("/fern/1", "/river/bed/"), ("Delta",)),
    Case("agents in a row share the rules", GROUPS, ("/fern/1",), ("/river/bed/",), ("Marsh",)),
    *(
        Case(
            f"keys are read in any case: {agent}",
            (f"{agent}: Brook", f"{allow}: /m/", f"{refuse}: /"),
            ("/m/1",),
            ("/n",),
        )
        for agent, allow, refuse in (
            ("USER-AGENT", "ALLOW", "DISALLOW"),
            ("user-agent", "allow", "disallow"),
            ("uSeR-aGeNt", "AlLoW", "dIsAlLoW"),
        )
    ),
    *(
        Case(
            f"names are read in any case, up to the first space: {name}",
            (f"User-Agent: {name}", "Allow: /m/", "Disallow: /"),
            ("/m/1",),
            ("/n/1",),
            ("Brook", "brook"),
        )
        for name in ("BROOK TROUT", "brook trout", "BrOoK tRoUt")
    ),
    Case(
        "a name with a space is its first word",
        ("User-Agent: *", "Disallow: /", "User-Agent: Brook Trout", "Allow: /m/", "Disallow: /"),
        ("/m/1",),
    ),
    Case("no groups, no rules", ("",), ("/a/b",)),
    Case(
        "a group that names us beats the star",
        ("user-agent: *", "allow: /", "user-agent: Brook", "disallow: /"),
        (),
        ("/a/b",),
    ),
    Case(
        "the star is for those nobody names",
        ("user-agent: *", "allow: /", "user-agent: Brook", "disallow: /"),
        ("/a/b",),
        agents=("Delta",),
    ),
    Case(
        "others' groups are not ours",
        ("user-agent: Brook", "allow: /", "user-agent: Delta", "disallow: /", "user-agent: Marsh", "disallow: /"),
        ("/a/b",),
        agents=("Lagoon",),
    ),
    Case("paths keep their case", ("user-agent: Brook", "disallow: /m/"), (), ("/m/1",)),
    Case("paths keep their case, upper", ("user-agent: Brook", "disallow: /M/"), ("/m/1",)),
    Case("the longer rule wins", ("user-agent: Brook", "disallow: /m/page.html", "allow: /m/"), (), ("/m/page.html",)),
    Case(
        "the longer rule wins, allowing",
        ("user-agent: Brook", "allow: /m/page.html", "disallow: /m/"),
        ("/m/page.html",),
        ("/m/",),
    ),
    Case("empty rules forbid nothing", ("user-agent: Brook", "disallow: ", "allow: "), ("/m/page.html",)),
    Case("of equals Allow wins", ("user-agent: Brook", "disallow: /", "allow: /"), ("/m/page.html",)),
    Case("a slash is an octet", ("user-agent: Brook", "disallow: /m", "allow: /m/"), ("/m/",), ("/m",)),
    Case(
        "of equal long rules Allow wins",
        ("user-agent: Brook", "disallow: /m/page.html", "allow: /m/page.html"),
        ("/m/page.html",),
    ),
    Case(
        "a star counts as an octet",
        ("user-agent: Brook", "allow: /page", "disallow: /*.html"),
        ("/page",),
        ("/page.html",),
    ),
    Case(
        "length is the rule's, not the match's",
        ("user-agent: Brook", "allow: /m/page.", "disallow: /*.html"),
        ("/m/page.html",),
        ("/m/y.html",),
    ),
    Case(
        "a group that names us is all we read",
        ("User-agent: *", "Disallow: /m/", "User-agent: Brook", "Disallow: /n/"),
        ("/m/page",),
        ("/n/page",),
    ),
    Case(
        "a URL inside a query stands as it is",
        ("User-agent: Brook", "Disallow: /", "Allow: /a/b?c=d&e=http://f.example?g&h"),
        ("/a/b?c=d&e=http://f.example?g&h",),
    ),
    Case(
        "a rule beyond ASCII is UTF-8", ("User-agent: Brook", "Disallow: /", "Allow: /a/ß川"), ("/a/%C3%9F%E5%B7%9D",)
    ),
    Case("an escaped rule stays", ("User-agent: Brook", "Disallow: /", "Allow: /a/%E5%B7%9D"), ("/a/%E5%B7%9D",)),
    Case("needless escapes match themselves", ("User-agent: Brook", "Disallow: /", "Allow: /a/%62%61"), ("/a/%62%61",)),
    Case(
        "a star needs what follows it",
        ("User-agent: Brook", "Disallow: /a/b/sand", "Allow: /a/*/stone"),
        ("/a/sand", "/a//sand", "/a/c/sand"),
        ("/a/b/sand",),
    ),
    Case(
        "a dollar is the end",
        ("User-agent: Brook", "Disallow: /a/b$", "Allow: /a/b/stone"),
        ("/a/b/stone", "/a/b/", "/a/b/c"),
        ("/a/b",),
    ),
    Case(
        "a hash begins a comment anywhere",
        ("User-agent: Brook", "# Disallow: /", "Disallow: /a/sand#stone", "Allow: /"),
        ("/a/b",),
        ("/a/sand",),
    ),
    Case(
        "index.html is a name like others",
        ("User-Agent: *", "Allow: /m/index.html", "Disallow: /"),
        ("/m/index.html",),
        ("/m/index.htm", "/n"),
    ),
    Case(
        "a line too long is cut, not dropped",
        ("user-agent: Brook", f"disallow: {LONG}/end"),
        ("/fen",),
        (f"{LONG}/fen",),
    ),
    Case(
        "long lines do not swallow the next",
        ("user-agent: Brook", "disallow: /", f"allow: {LONG}/end", f"allow: {OTHER_LONG}/end"),
        (f"{LONG}/end", f"{OTHER_LONG}/fen"),
        ("/",),
    ),
    *(
        Case(
            f"a path is a prefix: {rule}",
            ("user-agent: Brook", "disallow: /", f"allow: {rule}"),
            ("/trout", "/trout.html", "/trout/brown.html", "/troutlets", "/troutlets/tiny.html", "/trout.html?id=any"),
            ("/pike", "/Trout.asp", "/rainbowtrout", "/?id=trout"),
        )
        for rule in ("/trout", "/trout*")
    ),
    Case(
        "a folder is not the file of its name",
        ("user-agent: Brook", "disallow: /", "allow: /trout/"),
        ("/trout/", "/trout/brown", "/trout/?brown", "/trout/brown.html", "/trout/?id=any"),
        ("/pike", "/trout", "/trout.html", "/Trout/Brown.html"),
    ),
    Case(
        "a star stands for anything, and the end is open",
        ("user-agent: Brook", "disallow: /", "allow: /*.php"),
        ("/f.php", "/d/f.php", "/d/f.php?p", "//d/any.php.file.html", "/f.php/", "/index?f=f.php/"),
        ("/pike", "/php/", "/index?php", "/windows.PHP"),
    ),
    Case(
        "a star with a closed end",
        ("user-agent: Brook", "disallow: /", "allow: /*.php$"),
        ("/f.php", "/d/f.php"),
        ("/pike", "/f.php?p", "/f.php/", "/f.php5", "/php/", "/f?php", "/aaaphpaaa", "//windows.PHP"),
    ),
    Case(
        "a star in the middle",
        ("user-agent: Brook", "disallow: /", "allow: /trout*.php"),
        ("/trout.php", "/troutlets/river.php?p"),
        ("/pike", "/Trout.PHP"),
    ),
    Case("the root is the shortest rule", ("user-agent: Brook", "allow: /p", "disallow: /"), ("/page",)),
    Case("Allow wins a folder", ("user-agent: Brook", "allow: /folder", "disallow: /folder"), ("/folder/page",)),
    Case("a longer star wins", ("user-agent: Brook", "allow: /page", "disallow: /*.htm"), (), ("/page.htm",)),
    Case("only the front page", ("user-agent: Brook", "allow: /$", "disallow: /"), ("/",), ("/page.html",)),
]

# Where Google's reader answers otherwise, and why we do not.
CHOICES = [
    # Google compares the caller's name as given; a product token ends at the space on both sides (RFC 9309 2.2.1).
    Case(
        "our own name is cut like theirs",
        ("User-Agent: *", "Disallow: /", "User-Agent: Brook Trout", "Allow: /m/", "Disallow: /"),
        ("/m/1",),
        agents=("Brook Trout", "Brook/2.1", "Brook/2.1 (+mail@example.org)"),
    ),
    # Google's tests predate RFC 9309 2.2.2, which spells both sides alike before it compares.
    Case(
        "a path beyond ASCII is spelt for the caller", ("User-agent: Brook", "Disallow: /", "Allow: /a/川"), ("/a/川",)
    ),
    Case(
        "a path beyond ASCII meets an escaped rule",
        ("User-agent: Brook", "Disallow: /", "Allow: /a/%e5%b7%9d"),
        ("/a/川", "/a/%E5%B7%9D", "/a/%e5%b7%9d"),
    ),
    Case("needless escapes are undone", ("User-agent: Brook", "Disallow: /", "Allow: /a/%62%61"), ("/a/ba",)),
    # Google reads `/m/index.html` as `/m/` too. Nothing in the RFC does, and we would visit what was not allowed.
    Case("index.html is not its folder", ("User-Agent: *", "Allow: /m/index.html", "Disallow: /"), (), ("/m/",)),
    # Google takes any key that begins well (`Disallowed:`, `Allowance:`); we take the listed misspellings only.
    Case("a key is a whole word", ("User-agent: Brook", "Disallowed: /a", "Disallow: /b"), ("/a",), ("/b",)),
]

QUESTIONS = [
    pytest.param(case, agent, target, is_allowed, id=f"{case.claim} | {agent} {target[:24]}")
    for case in CASES + CHOICES
    for is_allowed, targets in ((True, case.allowed), (False, case.refused))
    for target in targets
    for agent in case.agents
]


@pytest.mark.parametrize(("case", "agent", "target", "is_allowed"), QUESTIONS)
def test_every_question_has_its_answer(case: Case, agent: str, target: str, is_allowed: bool) -> None:
    assert parse_robots(case.body, agent).decide(target).allowed is is_allowed


def test_no_question_was_lost() -> None:
    assert len(QUESTIONS) >= 140


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("Brook", "brook"),
        ("Brook-Trout", "brook-trout"),
        ("Brook_Trout", "brook_trout"),
        ("", ""),
        ("川", ""),
        ("Brook*", "brook"),
        ("Brook/2.1", "brook"),
        ("Brook Trout", "brook"),
        ("*", "*"),
        ("* # everyone", "*"),
        ("*Brook", ""),
    ],
)
def test_a_product_token_is_letters_underscores_and_hyphens(agent: str, token: str) -> None:
    assert token_of(agent) == token


@pytest.mark.parametrize(
    "text",
    [
        "User-Agent: a\nAllow: /some/path\nUser-Agent: b\n\n\nDisallow: /\n",
        "User-Agent: a\r\nAllow: /some/path\r\nUser-Agent: b\r\n\r\n\r\nDisallow: /\r\n",
        "User-Agent: a\rAllow: /some/path\rUser-Agent: b\r\r\rDisallow: /\r",
        "User-Agent: a\nAllow: /some/path\nUser-Agent: b\n\n\nDisallow: /",
        "User-Agent: a\nAllow: /some/path\r\nUser-Agent: b\n\r\n\nDisallow: /",
    ],
    ids=["unix", "dos", "mac", "no end", "mixed"],
)
def test_lines_are_counted_alike_whatever_ends_them(text: str) -> None:
    assert [record.line_number for record in records_of(text)] == [1, 2, 3, 6]


@pytest.mark.parametrize(
    ("body", "understood"),
    [
        (b"\xef\xbb\xbfUser-Agent: a\nAllow: /b\n", [Key.AGENT, Key.ALLOW]),
        (b"\xef\xbbUser-Agent: a\nAllow: /b\n", [Key.AGENT, Key.ALLOW]),
        (b"\xefUser-Agent: a\nAllow: /b\n", [Key.AGENT, Key.ALLOW]),
        (b"\xef\x11\xbfUser-Agent: a\nAllow: /b\n", [Key.ALLOW]),
        (b"User-Agent: a\n\xef\xbb\xbfAllow: /b\n", [Key.AGENT]),
    ],
    ids=["whole", "two thirds", "one third", "broken", "in the middle"],
)
def test_a_byte_order_mark_is_skipped_where_it_belongs(body: bytes, understood: list[Key]) -> None:
    assert [record.key for record in records_of(robots_text(body))] == understood


@pytest.mark.parametrize("is_first", [True, False])
def test_a_sitemap_may_stand_anywhere(is_first: bool) -> None:
    groups, sitemap = "User-Agent: a\nAllow: /some/path\nUser-Agent: b\n\n\n", "Sitemap: http://a.example/s.xml\n"
    body = sitemap + groups if is_first else groups + sitemap
    assert parse_robots(body.encode(), "a").sitemaps == ("http://a.example/s.xml",)


@pytest.mark.parametrize(
    ("written", "spelt"),
    [("/a/b/c", "/a/b/c"), ("/á", "/%C3%A1"), ("/%aa", "/%AA"), ("http://a.example", "http://a.example")],
)
def test_a_rule_is_spelt_as_urls_are(written: str, spelt: str) -> None:
    assert pattern_of(written).head == spelt


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://www.example.com", "/"),
        ("http://www.example.com/", "/"),
        ("http://www.example.com/a", "/a"),
        ("http://www.example.com/a/", "/a/"),
        ("http://www.example.com/a/b?c=http://d.e/", "/a/b?c=http://d.e/"),
        ("http://www.example.com/a/b?c=d&e=f#fragment", "/a/b?c=d&e=f"),
        ("http://example.com?a", "/?a"),
        ("http://example.com/a;b#c", "/a;b"),
    ],
)
def test_robots_are_asked_about_path_and_query(url: str, target: str) -> None:
    assert canonicalise(url).target == target
