"""The neighbour's own words: every piece carries its canary, so that a search finds it wherever it was stored."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import islice
from zlib import crc32

from headwater.simweb.message import Page
from headwater.simweb.neighbours.plan import AttackName
from headwater.simweb.world import prose
from headwater.simweb.world.languages.en import ENGLISH
from headwater.simweb.world.markup import in_html, in_xml

CANARY = re.compile(r"mallory-[a-z-]+-\d+")
# No publisher of the simulated web is as old: a date from here was made up.
LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)
PARAGRAPHS = 12


def canary(attack: AttackName, number: int) -> str:
    return f"mallory-{attack.replace('_', '-')}-{number}"


def canary_of(text: str) -> str | None:
    """The first one in a text."""
    found = CANARY.search(text)
    return found[0] if found else None


def lines(attack: AttackName, number: int, count: int = PARAGRAPHS) -> tuple[str, ...]:
    """Prose that reads like news, with the canary in every paragraph."""
    topic = ENGLISH.topics[number % len(ENGLISH.topics)]
    written = prose.paragraphs(prose.voice_of(ENGLISH, topic), crc32(canary(attack, number).encode()))
    return tuple(f"{line} So says {canary(attack, number)}." for line in islice(written, count))


@dataclass(frozen=True, slots=True)
class Item:
    """What a feed says of one address."""

    url: str
    title: str
    author: str = ""
    published: datetime | None = None
    paragraphs: tuple[str, ...] = ()


def forged(attack: AttackName, number: int, url: str) -> Item:
    """An item whose every word is the neighbour's, with the whole text."""
    mark = canary(attack, number)
    published = LONG_AGO + timedelta(days=number)
    return Item(url, f"{mark} knows better", f"Author {mark}", published, lines(attack, number))


def rss(title: str, items: Sequence[Item]) -> Page:
    text = f"""<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><title>{in_xml(title)}</title>
{"".join(map(_item, items))}</channel></rss>
"""
    return Page(text.encode(), "application/rss+xml; charset=utf-8")


def _item(item: Item) -> str:
    date = f"<pubDate>{format_datetime(item.published)}</pubDate>" if item.published else ""
    author = f"<dc:creator>{in_xml(item.author)}</dc:creator>" if item.author else ""
    html = "".join(f"<p>{in_html(line)}</p>" for line in item.paragraphs)
    content = f"<content:encoded>{in_xml(html)}</content:encoded>" if html else ""
    title, link = in_xml(item.title), in_xml(item.url)
    return f"<item><title>{title}</title><link>{link}</link><guid>{link}</guid>{date}{author}{content}</item>\n"


def article(title: str, paragraphs: Sequence[str], *, head: str = "", inside: str = "", below: str = "") -> Page:
    """An ordinary page; `head`, `inside` the text and `below` it are HTML."""
    text = "\n".join(f"<p>{in_html(line)}</p>" for line in paragraphs)
    html = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{in_html(title)}</title>{head}</head>
<body><main><article><h1>{in_html(title)}</h1>
{text}
{inside}</article>{below}</main></body></html>"""
    return Page(html.encode())
