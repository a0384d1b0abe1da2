"""Feeds in four formats. Every format says the same; only the spelling differs."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime

from headwater.simweb.world.markup import in_html, in_xml
from headwater.simweb.world.publishers import Feed, Publisher

TRACKING = "utm_source=feed&utm_medium=rss&utm_campaign=latest"
CONTENT_TYPES = {
    "rss": "application/rss+xml",
    "rdf": "application/rdf+xml",
    "atom": "application/atom+xml",
    "json": "application/feed+json",
}


@dataclass(frozen=True, slots=True)
class Entry:
    number: int
    path: str
    title: str
    summary: str
    author: str
    section: str
    published: datetime
    updated: datetime | None
    paragraphs: tuple[str, ...] = ()  # only where the feed carries the full text

    @property
    def html(self) -> str:
        return "".join(f"<p>{in_html(paragraph)}</p>" for paragraph in self.paragraphs)

    @property
    def changed(self) -> datetime:
        return self.updated or self.published


@dataclass(frozen=True, slots=True)
class Issue:
    """One feed at one moment."""

    publisher: Publisher
    feed: Feed
    entries: Sequence[Entry]
    changed: datetime

    def link(self, entry: Entry) -> str:
        """As spelled in the feed: perhaps tracked, perhaps relative."""
        link = entry.path if self.feed.has_relative_links else self.publisher.home.rstrip("/") + entry.path
        if not self.feed.tracks_clicks:
            return link
        return link + ("&" if "?" in link else "?") + TRACKING

    def identity(self, entry: Entry) -> str:
        return f"tag:{self.publisher.host},{entry.published.year}:{entry.number}"

    def local(self, moment: datetime) -> datetime:
        return moment.astimezone(self.publisher.zone)

    def iso(self, moment: datetime) -> str:
        return self.local(moment).isoformat()


def feed_text(issue: Issue) -> str:
    return WRITERS[issue.feed.kind](issue)


def feed_type(publisher: Publisher, feed: Feed) -> str:
    return f"{CONTENT_TYPES[feed.kind]}; charset={feed_charset(publisher, feed)}"


def feed_charset(publisher: Publisher, feed: Feed) -> str:
    # RFC 8259 section 8.1: JSON is UTF-8.
    return "utf-8" if feed.kind == "json" else publisher.charset


def _prolog(issue: Issue) -> str:
    return f'<?xml version="1.0" encoding="{issue.publisher.charset}"?>\n'


def _rss(issue: Issue) -> str:
    publisher, feed = issue.publisher, issue.feed
    ttl = f"<ttl>{feed.ttl_minutes}</ttl>\n" if feed.ttl_minutes else ""
    items = "\n".join(_rss_item(issue, entry) for entry in issue.entries)
    return f"""{_prolog(issue)}<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>{in_xml(publisher.name)}</title>
<link>{in_xml(publisher.home)}</link>
<description>{in_xml(publisher.name)}</description>
<language>{publisher.language}</language>
<lastBuildDate>{format_datetime(issue.local(issue.changed))}</lastBuildDate>
<atom:link href="{in_xml(feed.url)}" rel="self" type="application/rss+xml"/>
{ttl}{items}
</channel>
</rss>
"""


def _rss_item(issue: Issue, entry: Entry) -> str:
    if issue.feed.has_permalink_guids:
        guid = f"<guid>{in_xml(issue.publisher.home.rstrip('/') + entry.path)}</guid>"
    else:
        guid = f'<guid isPermaLink="false">{in_xml(issue.identity(entry))}</guid>'
    full = f"\n<content:encoded>{in_xml(entry.html)}</content:encoded>" if entry.paragraphs else ""
    return f"""<item>
<title>{in_xml(entry.title)}</title>
<link>{in_xml(issue.link(entry))}</link>
{guid}
<pubDate>{format_datetime(issue.local(entry.published))}</pubDate>
<dc:creator>{in_xml(entry.author)}</dc:creator>
<category>{in_xml(entry.section)}</category>
<description>{in_xml(entry.summary)}</description>{full}
</item>"""


def _rdf(issue: Issue) -> str:
    publisher = issue.publisher
    order = "\n".join(f'<rdf:li rdf:resource="{in_xml(issue.link(entry))}"/>' for entry in issue.entries)
    items = "\n".join(_rdf_item(issue, entry) for entry in issue.entries)
    return f"""{_prolog(issue)}<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="{in_xml(issue.feed.url)}">
<title>{in_xml(publisher.name)}</title>
<link>{in_xml(publisher.home)}</link>
<description>{in_xml(publisher.name)}</description>
<dc:language>{publisher.language}</dc:language>
<items><rdf:Seq>
{order}
</rdf:Seq></items>
</channel>
{items}
</rdf:RDF>
"""


def _rdf_item(issue: Issue, entry: Entry) -> str:
    link = in_xml(issue.link(entry))
    return f"""<item rdf:about="{link}">
<title>{in_xml(entry.title)}</title>
<link>{link}</link>
<description>{in_xml(entry.summary)}</description>
<dc:creator>{in_xml(entry.author)}</dc:creator>
<dc:date>{issue.iso(entry.published)}</dc:date>
</item>"""


def _atom(issue: Issue) -> str:
    publisher, feed = issue.publisher, issue.feed
    base = f' xml:base="{in_xml(publisher.home)}"' if feed.has_relative_links else ""
    entries = "\n".join(_atom_entry(issue, entry) for entry in issue.entries)
    return f"""{_prolog(issue)}<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{publisher.language}"{base}>
<title>{in_xml(publisher.name)}</title>
<id>{in_xml(publisher.home)}</id>
<link rel="alternate" href="{in_xml(publisher.home)}"/>
<link rel="self" href="{in_xml(feed.url)}"/>
<updated>{issue.iso(issue.changed)}</updated>
{entries}
</feed>
"""


def _atom_entry(issue: Issue, entry: Entry) -> str:
    full = f'\n<content type="html">{in_xml(entry.html)}</content>' if entry.paragraphs else ""
    return f"""<entry>
<title>{in_xml(entry.title)}</title>
<link rel="alternate" href="{in_xml(issue.link(entry))}"/>
<id>{in_xml(issue.identity(entry))}</id>
<published>{issue.iso(entry.published)}</published>
<updated>{issue.iso(entry.changed)}</updated>
<author><name>{in_xml(entry.author)}</name></author>
<category term="{in_xml(entry.section)}"/>
<summary>{in_xml(entry.summary)}</summary>{full}
</entry>"""


def _json(issue: Issue) -> str:
    publisher = issue.publisher
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": publisher.name,
        "home_page_url": publisher.home,
        "feed_url": issue.feed.url,
        "language": publisher.language,
        "items": [_json_item(issue, entry) for entry in issue.entries],
    }
    return json.dumps(feed, ensure_ascii=False, indent=1)


def _json_item(issue: Issue, entry: Entry) -> dict[str, object]:
    item: dict[str, object] = {
        "id": issue.identity(entry),
        "url": issue.link(entry),
        "title": entry.title,
        "summary": entry.summary,
        "date_published": issue.iso(entry.published),
        "authors": [{"name": entry.author}],
        "tags": [entry.section],
    }
    # JSON Feed 1.1 asks for content in every item, even where the site gives only the beginning.
    body = {"content_html": entry.html} if entry.paragraphs else {"content_text": entry.summary}
    modified = {"date_modified": issue.iso(entry.updated)} if entry.updated else {}
    return item | body | modified


WRITERS: Mapping[str, Callable[[Issue], str]] = {"rss": _rss, "rdf": _rdf, "atom": _atom, "json": _json}
