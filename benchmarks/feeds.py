"""How well and how cheaply feeds are read, beside feedparser on the same bytes.

Agreement: entries are matched by link, the first of each link; fractions are over the entries that feedparser found
with an http(s) link (`link`), and over those matched (`title`, `id`, `date`). Both sides are compared after the same
normalisation: links resolved against the feed's address and trimmed; titles without tags, with entities decoded and
white space collapsed, cut to our length; identifiers resolved like links where they are relative (feedparser does so,
we keep what the feed says); dates to the second, in UTC, the publication date or else the last change, and none where
the date lies before 1990 or in the future.

CPU: the best of several rounds of each, one after the other in one process. `cpu_vs_guarded_fast` compares with a
strict check by lxml followed by fastfeedparser, the other way to the same items, where that is installed.

Malformed: every feed is broken in three ways; an item is lost if feedparser finds its link in the broken bytes and we
do not. Character references are decoded first: feedparser leaves `&#038;` standing in links of what is not XML.

Truncated: every feed is cut at several places, at any byte, and so are some that were made megabytes long before;
`lost_on_truncated` is the share of items that feedparser finds before the cut and we do not.

Run: python -m benchmarks.feeds --feeds FOLDER (of *.gz or plain files; without one, feeds of the simulated web)
"""

import argparse
import gzip
import json
import re
import time
from calendar import timegm
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import unescape
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import feedparser
from lxml import etree

from headwater.discover.feeds import read_feed
from headwater.discover.feeds.dates import EARLIEST
from headwater.discover.feeds.draft import LONGEST_GUID, Draft, reading_of
from headwater.discover.feeds.words import LONGEST_TITLE, absolute, plain
from headwater.discover.items import Item, Reading, Unreadable
from headwater.simweb.message import Request
from headwater.simweb.world import World
from headwater.storable import one_line

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "feeds"
ADDRESS = "https://feeds.example/feed"  # where stored feeds are said to come from
NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
CUTS = 5
LONG_BYTES, LONG_FEEDS = 2_500_000, 6
ENTRY = re.compile(rb"<(item|entry)[\s>].*?</\1>", re.DOTALL)
PUBLISHERS = 120
ROUNDS = 5


class Answer(NamedTuple):
    name: str
    body: bytes
    content_type: str
    url: str


class Facts(NamedTuple):
    title: str
    id: str
    date: datetime | None


def stored(folder: Path) -> list[Answer]:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    bodies = (
        (path, gzip.decompress(raw) if path.suffix == ".gz" else raw) for path in files for raw in [path.read_bytes()]
    )
    return [Answer(path.name, body, "", ADDRESS) for path, body in bodies]


def simulated() -> list[Answer]:
    """XML only: feedparser knows no JSON Feed."""
    world = World(7, PUBLISHERS, start=NOW)
    return [
        Answer(feed.url, page.body, page.content_type, feed.url)
        for publisher in world.publishers
        for feed in publisher.feeds
        if feed.kind != "json" and (page := world.sites[publisher.host].page(asked(feed.url), NOW))
    ]


def asked(url: str) -> Request:
    parts = urlsplit(url)
    return Request("GET", parts.netloc, parts.path or "/", parts.query, {})


def ours(answer: Answer) -> Reading | Unreadable:
    return read_feed(answer.body, answer.content_type, answer.url, NOW)


def theirs(answer: Answer) -> Any:
    headers = {"content-location": answer.url} | ({"content-type": answer.content_type} if answer.content_type else {})
    return feedparser.parse(BytesIO(answer.body), response_headers=headers)


def guarded_fast(answer: Answer) -> Any:
    import fastfeedparser

    body = answer.body.lstrip()
    etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    return reading_of(Reading(()), map(draft_of, fastfeedparser.parse(body).entries), NOW)


def draft_of(entry: Any) -> Draft:
    return Draft(
        link=absolute(entry.get("link") or "", ADDRESS),
        guid=entry.get("id") or "",
        title=plain(entry.get("title") or "", LONGEST_TITLE),
        published=(entry.get("published") or "",),
        updated=(entry.get("updated") or "",),
        author=entry.get("author") or "",
        summary=entry.get("description") or "",
        content=next((content["value"] for content in entry.get("content") or ()), ""),
    )


def our_facts(items: Iterable[Item]) -> dict[str, Facts]:
    return {item.url: Facts(item.title, identity(item.guid), whole_second(item.published_at)) for item in items}


def their_facts(answer: Answer) -> dict[str, Facts]:
    found: dict[str, Facts] = {}
    for entry in theirs(answer).entries:
        if link := absolute(entry.get("link") or "", answer.url):
            found.setdefault(link, facts_of(entry))
    return found


def facts_of(entry: Any) -> Facts:
    stamp = dict.get(entry, "published_parsed") or dict.get(entry, "updated_parsed")
    return Facts(
        plain(dict.get(entry, "title") or "", LONGEST_TITLE),
        identity(dict.get(entry, "id") or ""),
        credible(datetime.fromtimestamp(timegm(stamp), UTC)) if stamp else None,
    )


def identity(guid: str) -> str:
    return one_line(absolute(guid, ADDRESS) or guid, LONGEST_GUID)


def credible(date: datetime) -> datetime | None:
    return date if EARLIEST <= date <= NOW else None


def whole_second(date: datetime | None) -> datetime | None:
    return credible(date.replace(microsecond=0)) if date else None


def agreement(answers: Sequence[Answer]) -> dict[str, float]:
    """Says each disagreement aloud: every one has a reason, and the reason decides who is right."""
    expected = matched = 0
    equal = dict.fromkeys(Facts._fields, 0)
    for answer in answers:
        reading, wanted = ours(answer), their_facts(answer)
        found = our_facts(reading.items) if isinstance(reading, Reading) else {}
        expected += len(wanted)
        for link, facts in wanted.items():
            if link not in found:
                print(f"  {answer.name}: link {link} only in feedparser")
                continue
            matched += 1
            for field, mine, other in zip(Facts._fields, found[link], facts, strict=True):
                equal[field] += mine == other
                if mine != other:
                    print(f"  {answer.name}: {field} {mine!r}, feedparser {other!r}")
    return {"link": fraction(matched, expected)} | {field: fraction(n, matched) for field, n in equal.items()}


def fraction(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0


def cpu_seconds(work: Callable[[Answer], object], answers: Sequence[Answer], rounds: int) -> float:
    """The best of several rounds: what else runs on the machine only ever slows one down."""
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        for answer in answers:
            work(answer)
        best = min(best, time.process_time() - began)
    return best


def is_well_formed(answer: Answer) -> bool:
    try:
        etree.fromstring(answer.body.lstrip())
    except etree.XMLSyntaxError:
        return False
    return True


def broken(answer: Answer) -> Iterator[Answer]:
    """A bare ampersand in every link and title, the end missing, a byte that is no UTF-8."""
    body = answer.body
    middle = len(body) * 2 // 3
    stray = body.replace(b"</title>", b" Q&A</title>").replace(b"</link>", b"?a=1&b=2</link>")
    for way, bytes_left in (
        ("ampersand", stray),
        ("truncated", body[:middle]),
        ("bad byte", body.replace(b"</title>", b" \xff</title>")),
    ):
        yield answer._replace(name=f"{answer.name}, {way}", body=bytes_left)


def truncated(answers: Sequence[Answer]) -> Iterator[Answer]:
    """The same cuts in every run."""
    chance = Random(7)
    for answer in (*answers, *map(lengthened, answers[:LONG_FEEDS])):
        for _ in range(CUTS if len(answer.body) < LONG_BYTES else 1):
            place = chance.randrange(len(answer.body) // 10, len(answer.body))
            yield answer._replace(name=f"{answer.name}, cut at {place}", body=answer.body[:place])


def lengthened(answer: Answer) -> Answer:
    """With entries of great length behind its first."""
    found = ENTRY.search(answer.body)
    if not found:
        return answer
    link = b"<link>https://site.example/%d</link>" if found[1] == b"item" else b'<link href="https://site.example/%d"/>'
    filling = b"<description>" + b"Words and words. " * 10_000 + b"</description>"
    begin, end = b"<%b>" % found[1], b"</%b>" % found[1]
    entries = b"".join(begin + link % n + filling + end for n in range(LONG_BYTES // len(filling) + 1))
    body = answer.body[: found.end()] + entries + answer.body[found.end() :]
    return answer._replace(name=f"{answer.name}, lengthened", body=body)


def lost_on_malformed(answers: Iterable[Answer]) -> tuple[int, int]:
    return lost_of(damaged for answer in answers for damaged in broken(answer))


def lost_of(answers: Iterable[Answer]) -> tuple[int, int]:
    """Items lost, of how many."""
    lost = total = 0
    for damaged in answers:
        reading, wanted = ours(damaged), {unescape(link) for link in their_facts(damaged)}
        found = {unescape(item.url) for item in reading.items} if isinstance(reading, Reading) else set()
        total += len(wanted)
        lost += len(wanted - found)
        for link in wanted - found:
            print(f"  {damaged.name}: lost {link}")
    return lost, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--feeds", type=Path, default=FOLDER if FOLDER.is_dir() else None)
    folder = parser.parse_args().feeds
    answers = stored(folder) if folder else simulated()
    readings = [ours(answer) for answer in answers]
    print(f"{len(answers)} feeds, {sum(len(answer.body) for answer in answers):,} bytes")
    figures: dict[str, object] = {"benchmark": "feeds", **agreement(answers)}
    mine, other = cpu_seconds(ours, answers, ROUNDS), cpu_seconds(theirs, answers, 1)
    figures["cpu_vs_feedparser"] = round(other / mine, 1)
    if find_spec("fastfeedparser"):
        strict = [answer for answer in answers if is_well_formed(answer)]
        fast = cpu_seconds(guarded_fast, strict, ROUNDS)
        figures["cpu_vs_guarded_fast"] = round(fast / cpu_seconds(ours, strict, ROUNDS), 2)
    lost, total = lost_on_malformed(answers)
    lost_by_cuts, before_cuts = lost_of(truncated(answers))
    figures |= {
        "feeds": len(answers),
        "items": sum(len(reading.items) for reading in readings if isinstance(reading, Reading)),
        "unreadable": sum(isinstance(reading, Unreadable) for reading in readings),
        "feeds_per_cpu_s": round(len(answers) / mine),
        "malformed_items": total,
        "lost_on_malformed": lost,
        "truncated_items": before_cuts,
        "lost_on_truncated": round(lost_by_cuts / (before_cuts or 1), 4),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
