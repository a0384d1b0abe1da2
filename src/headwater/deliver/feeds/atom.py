"""Atom (RFC 4287), piece by piece: a feed may be longer than memory."""

from html import escape

from headwater import __version__
from headwater.deliver.feeds.entries import FeedAbout, FeedEntry, moment_in_feed

FEED_END = "</feed>\n"


def feed_start(about: FeedAbout) -> str:
    """The author of the feed stands for entries that name none (4.1.1)."""
    links = [("self", about.self_url, "application/atom+xml"), ("alternate", about.url, "text/html")]
    return "".join(
        (
            '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n',
            f"  <id>{escape(about.id)}</id>\n  <title>{escape(about.title)}</title>\n",
            f"  <updated>{moment_in_feed(about.updated_at)}</updated>\n",
            f"  <author><name>{escape(about.title)}</name></author>\n",
            *(f'  <link rel="{rel}" type="{kind}" href="{escape(url)}"/>\n' for rel, url, kind in links if url),
            f'  <generator version="{__version__}">Headwater</generator>\n',
        )
    )


def entry_xml(entry: FeedEntry) -> str:
    language = f' xml:lang="{escape(entry.language)}"' if entry.language else ""
    summary = "\n".join(filter(None, (" · ".join(entry.facts), entry.summary)))
    pieces = (
        f"    <id>{escape(entry.urn)}</id>\n    <title>{escape(entry.title)}</title>\n",
        f'    <link rel="alternate" href="{escape(entry.url)}"/>\n' if entry.url else "",
        f"    <published>{moment_in_feed(entry.published_at)}</published>\n",
        f"    <updated>{moment_in_feed(entry.updated_at)}</updated>\n",
        *(f"    <author><name>{escape(name)}</name></author>\n" for name in entry.names),
        f'    <category term="{escape(entry.source)}"/>\n' if entry.source else "",
        f"    <rights>{escape(entry.rights)}</rights>\n" if entry.rights else "",
        f"    <summary>{escape(summary)}</summary>\n" if summary else "",
        _content(entry),
    )
    return f"  <entry{language}>\n{''.join(pieces)}  </entry>\n"


def _content(entry: FeedEntry) -> str:
    """Without a link to the page an entry must have its content (4.1.2)."""
    if entry.text:
        return f'    <content type="html">{escape(entry.html)}</content>\n'
    return "" if entry.url else f"    <content>{escape(entry.summary or entry.title)}</content>\n"
