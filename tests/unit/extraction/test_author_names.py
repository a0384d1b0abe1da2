"""Names in bylines: what is one, what stands between them."""

import pytest
from tests.unit.extraction.conftest import PROSE, Read

from headwater.extraction.article import Article
from headwater.extraction.author_names import MOST_AUTHORS, authors_in, persons_among
from headwater.extraction.site_names import site_names

NAMES = site_names("https://www.t-tide.co.uk/a", ["The Tide"])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["By Ann Lee and Bo Ek"], ("Ann Lee", "Bo Ek")),
        (["Von Ann Lee, Bo Ek und Cy Day"], ("Ann Lee", "Bo Ek", "Cy Day")),
        (["Par Ann Lee et Bo Ek"], ("Ann Lee", "Bo Ek")),
        (["Veröffentlicht von Ann Lee"], ("Ann Lee",)),
        (["Marta Cruz y Luis Paz"], ("Marta Cruz", "Luis Paz")),
        (["José Ortega y Gasset"], ("José Ortega y Gasset",)),
        (["Ann Lee, Political Editor"], ("Ann Lee",)),
        (["Analysis by Ann Lee, Tide Editor-at-large"], ("Ann Lee",)),
        (["Ann Lee, Berlin"], ("Ann Lee",)),
        (["Ann Lee ann@example.com"], ("Ann Lee",)),
        (["Ann Lee (Reuters)", "https://example.com/ann"], ("Ann Lee",)),
        (["Ann Lee | The Tide | 12.03.2026"], ("Ann Lee",)),
        (["Ann Lee for The Tide"], ("Ann Lee",)),
        (["ANN LEE, 12 May 2026, 10:15"], ("ANN LEE",)),
        (["Lee, Ann"], ("Ann Lee",)),
        (["Perry Bacon Jr."], ("Perry Bacon Jr.",)),
        (["김하늘 기자"], ("김하늘",)),
        (["Автор: Анна Ли"], ("Анна Ли",)),
        (["<a href='/ann'>Ann Lee</a>"], ("Ann Lee",)),
        (["Foto: Cy Day", "Ann Lee", "Ann Lee"], ("Ann Lee",)),
        (["Staff reporter"], ("Staff reporter",)),
        (["", " · ", "12:30"], ()),
    ],
)
def test_a_byline_is_read_as_a_list_of_names(said: list[str], expected: tuple[str, ...]) -> None:
    assert authors_in(said) == expected


@pytest.mark.parametrize("said", ["Follow us", "About the author", "Read More", "Ann", "12. Mai", "Posted on Monday"])
def test_what_a_page_shows_beside_an_author_is_no_name(said: str) -> None:
    assert authors_in([said], is_shown=True) == ()


def test_agencies_firms_roles_and_the_site_are_no_persons() -> None:
    said = ("dpa", "Ann Lee", "The Tide", "T-Tide Online", "Tide GmbH", "Redaktion", "Harbour Board")
    assert persons_among(said, NAMES, organisations=["Harbour Board"]) == ("Ann Lee",)


@pytest.mark.parametrize("account", ["ann-lee", "ann_lee", "annlee84"])
def test_a_byline_beside_the_heading_speaks_rather_than_an_account(account: str, read: Read) -> None:
    declared = f'<meta name="author" content="{account}">'
    shown = read(declared, f"<h1>Storm over the city</h1><p>By Ann Lee</p>{PROSE}")
    silent = read(declared, f"<h1>Storm over the city</h1>{PROSE}")
    assert isinstance(shown, Article)
    assert isinstance(silent, Article)
    assert (shown.authors, silent.authors) == (("Ann Lee",), (account,))


def test_a_byline_speaks_where_only_the_firm_behind_the_site_is_declared(read: Read) -> None:
    body = f'<div class="byline">By Ann Lee</div>{PROSE}'
    head = '<meta property="og:site_name" content="Tide"><meta name="author" content="Tide GmbH">'
    found = read(head, body)
    assert isinstance(found, Article)
    assert found.authors == ("Ann Lee",)


def test_who_writes_alone_may_have_the_name_of_the_site() -> None:
    own = site_names("https://annlee.example", ["Ann Lee"])
    assert persons_among(["Ann Lee"], own) == ()
    assert persons_among(["Ann Lee"], own, people=["Ann Lee"]) == ("Ann Lee",)


def test_no_byline_makes_more_than_so_many_authors_or_longer_names() -> None:
    found = authors_in([f"Ann Lee{'x' * at}" for at in range(200)])
    assert len(found) == MOST_AUTHORS
    assert all(len(name) <= 100 for name in authors_in(["Ann " * 10_000, "A" * 100_000, "and " * 5_000]))


ORGANISATION = (
    '<script type="application/ld+json">{"@type":"NewsArticle","author":{"@type":"Organization","name":"Example"}}'
)


def test_a_shown_byline_speaks_where_only_the_site_is_declared(read: Read) -> None:
    shown = '<div class="story__author">Von <b>Ann Lee</b>, <b>Bo Ek</b></div>'
    found, plain = (read(f"{ORGANISATION}</script>", f"{body}{PROSE}") for body in (shown, ""))
    assert isinstance(found, Article)
    assert isinstance(plain, Article)
    assert (found.authors, found.author) == (("Ann Lee", "Bo Ek"), "Ann Lee, Bo Ek")
    assert plain.authors == ("Example",)
    agency = read(f"{ORGANISATION}</script>".replace("Example", "dpa"), f"{shown}{PROSE}")
    assert isinstance(agency, Article)
    assert agency.authors == ("dpa",)


def authors(found: object) -> tuple[str, ...]:
    assert isinstance(found, Article)
    return found.authors


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        (
            "<ul><li>3 May 2026, 10:30</li><li>By: <span>Ann Lee</span>, <span>Bo Ek</span></li></ul>",
            ("Ann Lee", "Bo Ek"),
        ),
        ("<p>Von Ann Lee und Bo Ek</p>", ("Ann Lee", "Bo Ek")),
        ("<div><div>News</div><div>By TD, in <a href=/n>News</a></div></div>", ("TD",)),
        ("<p>By Ann Lee May 3, 2026</p>", ("Ann Lee",)),
        ("<p>By the harbour, in the rain</p>", ()),
        ("<nav>By Ann Lee</nav>", ()),
        (f"<p>By Ann Lee {'and on ' * 40}</p>", ()),
        ("", ()),
    ],
)
def test_a_line_beside_the_heading_names_who_wrote_it(read: Read, beside: str, expected: tuple[str, ...]) -> None:
    assert authors(read("", f"<div><header><h1>Storm</h1></header>{beside}</div>{PROSE}")) == expected


@pytest.mark.parametrize(
    ("opening", "expected"),
    [
        ("<p><strong>Ann Lee/Bo Ek</strong></p>", ("Ann Lee", "Bo Ek")),
        ("<p><em>…a town waits</em></p><p><b>ANN LEE&nbsp;</b></p>", ("ANN LEE",)),
        ("<p><strong>What we know about the storm</strong></p>", ("Example",)),
        ("<p><strong>Ann Lee</strong> is away</p>", ("Example",)),
    ],
)
def test_a_name_that_opens_the_text_is_the_author_where_one_account_posts_it_all(
    read: Read, opening: str, expected: tuple[str, ...]
) -> None:
    assert authors(read(f"{ORGANISATION}</script>", f"<article>{opening}{PROSE}</article>")) == expected
    assert authors(read(f"{ORGANISATION}</script>", f"<article>{PROSE}{opening}</article>")) == ("Example",)


def test_an_account_named_after_an_office_is_no_person(read: Read) -> None:
    said = """<script type="application/ld+json">{"@type":"NewsArticle","author":
        {"@type":"Person","name":"Harbour D","@id":"https://www.example.com/author/admin/"}}</script>"""
    assert authors(read(said, f"<article><p><b>Ann Lee</b></p>{PROSE}</article>")) == ("Ann Lee",)
    assert authors(read(said, f"<article>{PROSE}</article>")) == ("Harbour D",)


def test_authors_linked_in_one_place_belong_together(read: Read) -> None:
    said = """<script type="application/ld+json">{"@type":"NewsArticle","author":{"name":"Bo Ek"}}</script>"""
    both = "".join(f"<div><address><a rel=author href=/x>{name}</a></address></div>" for name in ("Ann Lee", "Bo Ek"))
    others = "<ul><li><div><div><div><a rel=author href=/c>Cy Day</a></div></div></div></li></ul>"
    assert authors(read(said, f"<article><div>{both}</div>{PROSE}</article>{others}")) == ("Ann Lee", "Bo Ek")
    assert authors(read(said, f"<article>{PROSE}</article>{others}")) == ("Bo Ek",)


def test_what_wordpress_says_to_those_who_share_is_read(read: Read) -> None:
    said = '<meta name="twitter:label1" content="Verfasst von"><meta name="twitter:data1" content="Ann Lee">'
    assert authors(read(said)) == ("Ann Lee",)
    assert authors(read(said.replace("Verfasst von", "Lesezeit"))) == ()


@pytest.mark.parametrize("label", ["Editor:", "Editor :", "Redaktur:", "Editor: <b></b>"])
def test_the_author_speaks_rather_than_the_editor(label: str, read: Read) -> None:
    declared = '<meta name="author" content="Bo Ek">'
    top = "<h1>Storm over the city</h1><div class=author-box>Ann Lee</div>"
    shown = read(declared, f"{top}{PROSE}<p>{label} <a href=/bo>Bo Ek</a></p>")
    assert isinstance(shown, Article)
    assert shown.authors == ("Ann Lee",)
    # Without a label, or without another name beside the heading, what is declared stands.
    for body in (f"{top}{PROSE}<p><a href=/bo>Bo Ek</a></p>", f"<h1>Storm</h1>{PROSE}<p>{label} Bo Ek</p>"):
        found = read(declared, body)
        assert isinstance(found, Article)
        assert found.authors == ("Bo Ek",)
