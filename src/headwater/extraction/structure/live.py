"""Live blogs: pages that grow by entries, each with its own time. Found by their linked data or by their elements."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from itertools import islice
from typing import Any, NamedTuple

import orjson
from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.blocks.block import MOST_BLOCKS, BlockKind, BodyBlock
from headwater.extraction.blocks import text_of_html
from headwater.extraction.dates import moment_from
from headwater.extraction.elements import Elements, attribute, beginning_of
from headwater.extraction.linked_data import linked_scripts
from headwater.extraction.linked_values import moment, texts, urls
from headwater.extraction.text import LONGEST_TEXT, comparable, page_line

_LIVE_TYPE = "LiveBlogPosting"
_MICRODATA = f"[itemtype$='{_LIVE_TYPE}']"
_UPDATES = "liveBlogUpdate"
_LONGEST_SCRIPT = 4_000_000
_MOST_ENTRIES, _MOST_ANCHORS, _MOST_STEPS_OUT = 5_000, 10_000, 40
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_TIMES = "time[datetime]"
_FEWEST, _FEWEST_UNNAMED = 2, 4
_NAMED_LIVE = re.compile(
    r"(?:^|[\s_-])(?:live|liveblog|live-?ticker|ticker|minute-?by-?minute)(?=$|[\s_-])", re.IGNORECASE
)
_HEADLINE, _LONGEST_READ = 300, 3_000  # indentation counts in the second


# The author and the time below an entry, which both say again.
_SIGNED = re.compile(r"\A(?=.{1,60}\Z).*\b\d{1,2}[:.]\d\d(?: ?[ap]\.?m\.?)?(?: [A-Z]{2,4})?\Z", re.IGNORECASE)
_MOSTLY = 0.5


class LiveUpdate(NamedTuple):
    """An entry as linked data tells it."""

    headline: str
    body: str
    at: datetime | None
    url: str


class LiveEntry(NamedTuple):
    """An element of the page that holds one entry."""

    headline: str
    at: datetime | None
    url: str


class LiveBlog(NamedTuple):
    """`entries` by the `mem_id` of their elements; `updates` are what linked data says, in its order."""

    entries: Mapping[int, LiveEntry]
    updates: Sequence[LiveUpdate]

    @property
    def is_told(self) -> bool:
        """Whether linked data know most of the entries."""
        told = {one.headline for one in self.updates if one.headline}
        return sum(one.headline in told for one in self.entries.values()) > _MOSTLY * len(self.entries)


def live_blog_in(elements: Elements, tree: LexborHTMLParser, zone: tzinfo, *, is_said: bool) -> LiveBlog | None:
    """None: the page is none. `tree` is the one whose elements are asked for; `is_said` by its linked data."""
    updates = updates_in(elements, zone)
    is_said = is_said or bool(updates)
    times = tree.css(_TIMES)[:_MOST_ANCHORS]
    if not is_said and len(times) < _FEWEST_UNNAMED:
        return None
    is_said = is_said or tree.css_first(_MICRODATA) is not None
    named = {comparable(one.headline) for one in updates if one.headline}
    titled = tree.css(_HEADINGS)[:_MOST_ANCHORS] if named else []
    headings = [one for one in titled if comparable(beginning_of(one, _HEADLINE)) in named]
    parent, children = _row_of_most(times)
    if len(headings) > len(children):
        parent, children = _row_of_most(headings)
    if len(children) < (_FEWEST if is_said else _FEWEST_UNNAMED) or parent is None:
        children = []
    elif not is_said and not _is_named_live(parent, children[0]):
        return None
    if not children and not updates:
        return None
    told = {one.headline: one for one in reversed(updates)}
    row = _with_their_like(parent, children) if parent is not None and is_said else children
    return LiveBlog({one.mem_id: _entry_of(one, told, zone) for one in row[:_MOST_ENTRIES]}, updates)


def is_signature(text: str) -> bool:
    """Of an entry: its author and time, which both stand elsewhere as well."""
    return _SIGNED.search(text) is not None


def updates_in(elements: Elements, zone: tzinfo) -> list[LiveUpdate]:
    """None where several live blogs are told of: the page lists them."""
    found: list[LiveUpdate] = []
    for script in linked_scripts(elements):
        if _UPDATES not in script or len(script) > _LONGEST_SCRIPT:
            continue
        try:
            said = orjson.loads(script)
        except ValueError:
            continue
        for updates in _told_in(said):
            if found:
                return []
            found = [_update(node, zone) for node in islice(updates, _MOST_ENTRIES)]
    return found


def _told_in(said: Any) -> Iterable[Iterable[dict[str, Any]]]:
    """The entries of each outermost object that has any."""
    outer = said if isinstance(said, list) else [said]
    graphs = [one["@graph"] for one in outer if isinstance(one, dict) and isinstance(one.get("@graph"), list)]
    for node in (one for group in (outer, *graphs) for one in group if isinstance(one, dict)):
        held = node.get(_UPDATES)
        updates = [one for one in (held if isinstance(held, list) else [held]) if isinstance(one, dict)]
        if updates:
            yield updates


def _update(node: dict[str, Any], zone: tzinfo) -> LiveUpdate:
    body = node.get("articleBody") or node.get("text") or ""
    return LiveUpdate(
        headline=next(iter(texts(node, "headline", "name")), ""),
        body=body[:LONGEST_TEXT] if isinstance(body, str) else "",
        at=moment(node, zone, "datePublished", "dateCreated", "dateModified"),
        url=next(iter(urls(node, "url", "@id")), ""),
    )


def _row_of_most(anchors: Sequence[LexborNode]) -> tuple[LexborNode | None, list[LexborNode]]:
    """The element with most children that have one of these inside, and those children, in page order."""
    rows: dict[int, dict[int, LexborNode]] = {}
    holders: dict[int, LexborNode] = {}
    for anchor in anchors:
        child, holder = anchor, anchor.parent
        for _ in range(_MOST_STEPS_OUT):
            if holder is None:
                break
            row = rows.setdefault(holder.mem_id, {})
            holders[holder.mem_id] = holder
            # The steps from here on were made for another one.
            is_known = child.mem_id in row
            row[child.mem_id] = child
            if is_known:
                break
            child, holder = holder, holder.parent
    if not rows:
        return None, []
    best = max(rows, key=lambda one: len(rows[one]))
    return holders[best], list(rows[best].values())


def _with_their_like(parent: LexborNode, children: Sequence[LexborNode]) -> list[LexborNode]:
    """And those beside them that are made like them: an entry may have neither heading nor time."""
    known = {one.mem_id for one in children}
    made = {_make_of(one) for one in children}
    beside = islice(parent.iter(), _MOST_ANCHORS)
    return [one for one in beside if one.mem_id in known or (_make_of(one) in made and attribute(one, "class"))]


def _make_of(node: LexborNode) -> tuple[str, str]:
    return node.tag or "", attribute(node, "class")


def _is_named_live(holder: LexborNode, entry: LexborNode) -> bool:
    around: LexborNode | None = holder
    nodes = [entry]
    for _ in range(3):
        if around is None or around.tag in ("body", "html"):
            break
        nodes.append(around)
        around = around.parent
    return any(_NAMED_LIVE.search(f"{attribute(one, 'class')[:500]} {attribute(one, 'id')[:100]}") for one in nodes)


def _entry_of(node: LexborNode, updates: Mapping[str, LiveUpdate], zone: tzinfo) -> LiveEntry:
    heading = node if node.tag in ("h1", "h2", "h3", "h4", "h5", "h6") else node.css_first(_HEADINGS)
    headline = page_line(beginning_of(heading, _LONGEST_READ), _HEADLINE) if heading is not None else ""
    time = node if node.tag == "time" else node.css_first(_TIMES)
    at = moment_from(attribute(time, "datetime"), zone) if time is not None else None
    if headline and (told := updates.get(headline)):
        return LiveEntry(headline, at or told.at, told.url)
    return LiveEntry(headline, at, "")


def blocks_of_updates(updates: Sequence[LiveUpdate]) -> list[BodyBlock]:
    """Where the page's elements do not show them."""
    blocks: list[BodyBlock] = []
    for one in updates:
        if len(blocks) >= MOST_BLOCKS:
            break
        lines = [line for line in text_of_html(one.body.replace("\n", "<br>")).split("\n") if line]
        blocks.append(BodyBlock(kind=BlockKind.ENTRY, text=one.headline, at=one.at, url=one.url))
        blocks += [BodyBlock(kind=BlockKind.PARAGRAPH, text=line) for line in lines]
    return blocks[:MOST_BLOCKS]
