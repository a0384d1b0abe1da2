"""The structure of pages: documentation, stories with pictures, live blogs."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.extraction.conftest import PROSE, Read

from headwater.blocks.block import BlockKind, BodyBlock, MarkKind, text_of_blocks
from headwater.blocks.markdown import markdown_of
from headwater.extraction.article import Article
from headwater.extraction.elements import Elements
from headwater.extraction.hidden import visible_page
from headwater.extraction.page import FeedHints, Selectors
from headwater.extraction.page_type import PageType
from headwater.extraction.structure.live import live_blog_in
from headwater.simweb.world.docsites import VOICE
from headwater.simweb.world.manuals import HIGHLIGHTERS, Code, manual_of

AT = datetime(2026, 5, 4, 9, tzinfo=UTC)


def article(found: object) -> Article:
    assert isinstance(found, Article)
    assert text_of_blocks(found.blocks) == found.text
    return found


def of_kind(found: Article, kind: BlockKind) -> list[BodyBlock]:
    return [block for block in found.blocks if block.kind is kind]


@pytest.mark.parametrize("number", range(2 * len(HIGHLIGHTERS)))
def test_a_manual_comes_out_whole(read: Read, number: int) -> None:
    manual = manual_of(VOICE, number, in_the_markup_of=f"docs{number}.example")
    found = article(read(body=f"<main><h1>Tools</h1>{PROSE}{manual.html}</main>"))
    assert tuple((one.level, one.text) for one in of_kind(found, BlockKind.HEADING)) == manual.headings
    assert tuple(Code(one.language, one.text) for one in of_kind(found, BlockKind.CODE)) == manual.codes
    assert tuple(one.rows for one in of_kind(found, BlockKind.TABLE)) == manual.tables
    assert tuple((one.depth, one.text) for one in of_kind(found, BlockKind.ITEM)) == manual.items
    assert [one.text for one in of_kind(found, BlockKind.NOTE)] == ["Warning", manual.note]


def test_every_highlighter_is_met() -> None:
    pages = {manual_of(VOICE, 0, in_the_markup_of=f"docs{n}.example").html for n in range(2 * len(HIGHLIGHTERS))}
    assert len(pages) == len(HIGHLIGHTERS)


LIST = """<ol start="3"><li>First of all do this.<ul><li>Inside of it one.</li></ul></li>
<li><p>Then do the second thing.</p><p>It takes a while.</p><pre><code class="lang-sh">make all

make test</code></pre></li></ol>
<dl><dt>Quay</dt><dd>Where ships lie when they are in.</dd></dl>"""


def test_lists_know_their_depth_and_numbers_and_hold_their_code(read: Read) -> None:
    found = article(read(body=f"<article>{PROSE}{LIST}{PROSE}</article>"))
    told = [(one.kind, one.depth, one.number, one.text) for one in found.blocks if one.depth]
    assert told == [
        (BlockKind.ITEM, 1, 3, "First of all do this."),
        (BlockKind.ITEM, 2, None, "Inside of it one."),
        (BlockKind.ITEM, 1, 4, "Then do the second thing."),
        (BlockKind.PARAGRAPH, 1, None, "It takes a while."),
        (BlockKind.CODE, 1, None, "make all\n\nmake test"),
        (BlockKind.TERM, 1, None, "Quay"),
        (BlockKind.ITEM, 2, None, "Where ships lie when they are in."),
    ]


def test_words_keep_what_they_are(read: Read) -> None:
    line = '<p>Set <code>limit</code> as <a href="/help#limit">the <b>manual</b></a> has it, and wait for the tide.</p>'
    found = article(read(body=f"<article>{PROSE}{line}{PROSE}</article>"))
    [one] = [block for block in found.blocks if block.text.startswith("Set")]
    told = {(one.text[mark.begin : mark.end], mark.kind, mark.url) for mark in one.marks}
    assert told == {
        ("limit", MarkKind.CODE, ""),
        ("the manual", MarkKind.LINK, "https://www.example.com/help#limit"),
        ("manual", MarkKind.STRONG, ""),
    }


def test_cells_keep_what_they_are(read: Read) -> None:
    cells = '<td><code>limit</code></td><td>see <a href="/l">the list</a></td>'
    rows = f"<tr><th>Name</th><th>Meaning</th></tr><tr>{cells}</tr>"
    found = article(read(body=f"<article>{PROSE}<table>{rows}</table>{PROSE}</article>"))
    assert "| `limit` | see [the list](https://www.example.com/l) |" in markdown_of(found.blocks)


def test_pictures_between_the_lines_are_the_storys_and_others_are_not(read: Read) -> None:
    own = '<figure><img src="/quay.jpg" alt="The quay"><figcaption>The quay on Monday</figcaption></figure>'
    video = '<iframe src="https://www.youtube.com/embed/tide"></iframe><iframe src="//ads.example/x"></iframe>'
    card = '<div class="card"><a href="/more"><figure><img src="/card.jpg" alt="More"></figure>More about it</a></div>'
    found = article(
        read(body=f"<nav><img src=/logo.png alt=Logo></nav><article>{PROSE}{own}{video}{PROSE}{card}</article>")
    )
    [figure] = of_kind(found, BlockKind.FIGURE)
    assert (figure.url, figure.alt, figure.caption) == (
        "https://www.example.com/quay.jpg",
        "The quay",
        "The quay on Monday",
    )
    assert [one.url for one in of_kind(found, BlockKind.EMBED)] == ["https://www.youtube.com/embed/tide"]


def test_what_a_person_chose_gets_nothing_added(read: Read) -> None:
    body = f"<article>{PROSE}<pre>secret code</pre>{PROSE}</article>"
    selectors = Selectors(fields={"body": "article"}, exclude=("pre",))
    found = article(read(body=body, selectors=selectors))
    assert "secret" not in found.text
    assert "secret" in article(read(body=body)).text


def test_a_feeds_text_has_the_structure_of_the_feeds_html(read: Read) -> None:
    content = f"<h2>From the feed</h2>{PROSE}<ul><li>an item of it</li></ul>"
    found = article(read(body="<p>Nothing here.</p>", hints=FeedHints(title="T", content=content)))
    assert [one.text for one in of_kind(found, BlockKind.HEADING)] == ["From the feed"]
    assert "an item of it" in markdown_of(found.blocks)


POSTS = [
    (AT - timedelta(minutes=7 * n), f"Post number {n}", f"What was said in post {n} of this day.") for n in range(6)
]


def live(posts: list[tuple[datetime, str, str]], shape: str) -> str:
    return "".join(shape.format(at=at.isoformat(), title=title, text=text) for at, title, text in posts)


TIMED = (
    '<div class="live-post"><time datetime="{at}">9:00</time><h3>{title}</h3><div><p>{text}</p><ul><li>a point</li>'
    "</ul></div></div>"
)
UNTIMED = "<section><h3>{title}</h3><p>{text}</p><p>Ann Lee 4 May 2026 09:00</p></section>"


ASIDE = "A word between two of them, without a heading of its own."
BARE = '<div class="entry"><h3>{title}</h3><p>{text}</p></div>'


def linked(posts: list[tuple[datetime, str, str]]) -> str:
    updates = [
        {"@type": "BlogPosting", "headline": title, "articleBody": text, "datePublished": at.isoformat()}
        for at, title, text in posts
    ]
    told = {"@type": "LiveBlogPosting", "headline": "Storm", "liveBlogUpdate": updates}
    return f'<script type="application/ld+json">{json.dumps(told)}</script>'


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("", f'<main class="live-blog">{PROSE}{live(POSTS, TIMED)}</main>'),
        (linked(POSTS), f"<main>{PROSE}<div>{live(POSTS, UNTIMED)}</div></main>"),
        (linked(POSTS), f"<main>{PROSE}</main>"),
    ],
    ids=["elements with times", "headings that linked data names", "linked data alone"],
)
def test_a_live_blog_is_its_entries_in_order_with_their_times(read: Read, head: str, body: str) -> None:
    found = article(read(head=head, body=body))
    assert found.page_type is PageType.LIVE
    entries = of_kind(found, BlockKind.ENTRY)
    assert [(one.at, one.text) for one in entries] == [(at, title) for at, title, _ in POSTS]
    lines = found.text.split("\n")
    assert lines[0].startswith("The mayor of the council")
    for _, title, text in POSTS:
        assert lines[lines.index(title) + 1] == text
        assert lines.count(title) == 1
    assert "09:00" not in found.text
    assert f"## {AT:%Y-%m-%d %H:%M} UTC – Post number 0" in markdown_of(found.blocks)


def test_times_of_teasers_make_no_live_blog(read: Read) -> None:
    teasers = "".join(
        f'<li><time datetime="{at.isoformat()}"></time><a href="/{title}">{title}</a></li>' for at, title, _ in POSTS
    )
    found = article(read(body=f"<article>{PROSE}</article><ul>{teasers}</ul>"))
    assert found.page_type is not PageType.LIVE
    assert not of_kind(found, BlockKind.ENTRY)


def test_a_page_that_lists_live_blogs_is_none(read: Read) -> None:
    found = article(read(head=linked(POSTS) + linked(POSTS)))
    assert not of_kind(found, BlockKind.ENTRY)


def test_an_entry_made_like_the_others_may_have_neither_heading_nor_time() -> None:
    row = f'{live(POSTS, BARE)}<div class="entry"><p>{ASIDE}</p></div><div class="advice"><p>Buy our paper.</p></div>'
    tree = visible_page(f"<html><head>{linked(POSTS)}</head><body><main>{row}</main></body></html>")
    found = live_blog_in(Elements(tree), tree, UTC, is_said=True)
    assert found is not None
    assert len(found.entries) == len(POSTS) + 1
    assert [one.headline for one in found.entries.values()][-1] == ""
    assert found.is_told
