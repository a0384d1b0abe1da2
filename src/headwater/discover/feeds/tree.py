"""A feed from the tree of its XML: RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0, all by the meaning of their elements."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from headwater.discover.feeds.draft import LONGEST_LANGUAGE, MOST_ENTRIES, Draft
from headwater.discover.feeds.entry import author_in, draft_from, text_of, title_of
from headwater.discover.feeds.pace import days_to_skip, hours_to_skip, wait_said
from headwater.discover.feeds.vocabulary import XML_BASE, XML_LANG, local_name, meaning, namespace
from headwater.discover.feeds.words import absolute, base_within, cloud_address, next_of_wordpress
from headwater.discover.items import Reading, Unreadable
from headwater.rights.record import UseStatement
from headwater.rights.rsl import rsl_statements
from headwater.storable import one_line

_ROOTS = frozenset({"rss", "rdf", "feed", "channel"})


class FeedParts(NamedTuple):
    """The elements around the entries, first of their kind; links are many."""

    about: dict[str, Any]
    links: list[Any]
    entries: list[tuple[Any, str]]  # each with the base of what it stands in
    rights: list[UseStatement]


def read_tree(root: Any, base_url: str) -> tuple[Reading, Iterator[Draft]] | Unreadable:
    """The feed without its items, and the drafts of these."""
    name = local_name(root.tag)
    if name not in _ROOTS:
        return Unreadable(f"XML, but not a feed: it starts with <{one_line(name, 40)}>.")
    home = _home(root)
    base = base_within(root.get(XML_BASE), base_url)
    parts = _parts(root, home, base)
    return _feed(root, parts, base), _drafts(parts, home)


def _home(root: Any) -> str:
    """RDF is only the wrapping: the feed's own namespace is that of its channel, for RSS 0.90 another than for 1.0."""
    if local_name(root.tag) != "rdf":
        return namespace(root.tag)
    return next((namespace(child.tag) for child in root if local_name(child.tag) in ("channel", "item")), "")


def _parts(root: Any, home: str, base: str) -> FeedParts:
    parts = FeedParts({}, [], [], [])
    channels = [root]
    for parent in channels:
        inner = base if parent is root else base_within(parent.get(XML_BASE), base)
        parts.rights.extend(rsl_statements(parent))
        for child in parent:
            match meaning(child.tag, home):
                case "channel" if parent is root:
                    channels.append(child)
                case "entry":
                    # One more than will be read, so that the rest is known to exist.
                    if len(parts.entries) <= MOST_ENTRIES:
                        parts.entries.append((child, inner))
                case "link":
                    parts.links.append(child)
                case name if name:
                    parts.about.setdefault(name, child)
    return parts


def _drafts(parts: FeedParts, home: str) -> Iterator[Draft]:
    author = author_in(parts.about, home)
    rights = tuple(parts.rights)
    return (draft_from(entry, home, base, author, rights) for entry, base in parts.entries)


def _feed(root: Any, parts: FeedParts, base: str) -> Reading:
    about = parts.about
    language = text_of(about.get("language")) or root.get(XML_LANG) or ""
    return Reading(
        items=(),
        title=title_of(about.get("title")),
        language=one_line(language, LONGEST_LANGUAGE),
        ttl=wait_said(text_of(about.get("ttl")), text_of(about.get("period")), text_of(about.get("frequency"))),
        skip_hours=hours_to_skip(_listed(about.get("skiphours"))),
        skip_days=days_to_skip(_listed(about.get("skipdays"))),
        hub=_linked(parts.links, "hub", base),
        topic=_linked(parts.links, "self", base),
        cloud=cloud_address(about["cloud"].attrib) if "cloud" in about else "",
        more=_older(parts, base),
    )


def _listed(parent: Any) -> list[str]:
    return [] if parent is None else [child.text or "" for child in parent]


def _older(parts: FeedParts, base: str) -> tuple[str, ...]:
    """Where its older entries are: RFC 5005, archived or paged, else as WordPress counts its pages."""
    links = parts.links
    named = _linked(links, "prev-archive", base) or _linked(links, "next", base)
    generator = parts.about.get("generator")
    made_by = "" if generator is None else f"{text_of(generator)} {generator.get('uri') or ''}"
    if not named and "wordpress" in made_by.lower():
        named = next_of_wordpress(base)
    return (named,) if named else ()


def _linked(links: list[Any], role: str, base: str) -> str:
    found = (link for link in links if role in (link.get("rel") or "").lower().split())
    return next(filter(None, (absolute(link.get("href") or "", base) for link in found)), "")
