"""The sets of real pages that extraction is measured on, and how well a text found says what such a page should."""

import gzip
import json
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from headwater.extraction.page import Page
from headwater.net.charset import CharsetKind, decode
from headwater.net.charset_labels import CODECS

DATA = Path(__file__).parents[2] / "shared" / "data"
TRUTH = "ground-truth.json"
RUN = 4
THIRDS = 3
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Sample:
    """`truth` is what should be found: a text, or strings; `unwanted` are strings that should not be."""

    key: str
    page: Page
    truth: str | Sequence[str]
    unwanted: Sequence[str] = ()
    said: Mapping[str, Any] = field(default_factory=dict)


class Shares(NamedTuple):
    """Of all there is in either: in both, only in what was found, only in the truth."""

    both: float
    ours: float
    truth: float

    @property
    def f1(self) -> float:
        whole = 2 * self.both + self.ours + self.truth
        return 2 * self.both / whole if whole else 1.0


class PageSet(NamedTuple):
    name: str
    samples: Sequence[Sample]
    measure: Callable[[Sample, str], Shares]
    total: Callable[[Sequence[Shares]], tuple[float, float]]  # precision and recall


def third_of(key: str) -> int:
    """Which third of its set a page is in: one of them can be kept out of whatever is tuned."""
    return zlib.crc32(key.removesuffix(".gz").removesuffix(".html").encode()) % THIRDS


def articles(folder: Path) -> PageSet:
    return PageSet("articles", _samples(folder, lambda one: {"truth": one["articleBody"]}), by_runs, mean_shares)


def world(folder: Path) -> PageSet:
    return PageSet("world", _samples(folder, lambda one: {"truth": _text_of(one), "said": one}), by_runs, mean_shares)


def strings(folder: Path) -> PageSet:
    def wanted(one: Mapping[str, Any]) -> dict[str, Any]:
        return {"truth": one["with"], "unwanted": one["without"]}

    return PageSet("strings", _samples(folder, wanted), by_strings, summed_shares)


def by_runs(sample: Sample, found: str) -> Shares:
    """Runs of four words, as the article extraction benchmark of Scrapinghub defines it: shares of each page's runs, so
    that long pages count no more than short ones.
    """
    assert isinstance(sample.truth, str)
    wanted, got = runs(sample.truth), runs(found)
    counts = ((wanted & got).total(), (got - wanted).total(), (wanted - got).total())
    whole = sum(counts) or 1
    return Shares(*(count / whole for count in counts))


def by_strings(sample: Sample, found: str) -> Shares:
    """Strings that are in the text, of those that should be and of those that should not."""
    text = _evened(found)
    right = sum(_evened(one) in text for one in sample.truth)
    return Shares(right, sum(_evened(one) in text for one in sample.unwanted), len(sample.truth) - right)


def runs(text: str) -> Counter[tuple[str, ...]]:
    # How an accent is composed says nothing of what was read.
    words = WORD.findall(unicodedata.normalize("NFC", text))
    # A text shorter than a run is one run of what it has.
    return Counter(tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1)) if words)


def mean_shares(pages: Sequence[Shares]) -> tuple[float, float]:
    precision = [one.both / (one.both + one.ours) for one in pages if one.both + one.ours]
    recall = [one.both / (one.both + one.truth) for one in pages if one.both + one.truth]
    return mean(precision or [0.0]), mean(recall or [0.0])


def summed_shares(pages: Sequence[Shares]) -> tuple[float, float]:
    both, ours, truth = (sum(column) for column in zip(*pages, strict=True))
    return both / (both + ours or 1), both / (both + truth or 1)


def f1_of(shares: tuple[float, float]) -> float:
    precision, recall = shares
    return 2 * precision * recall / (precision + recall or 1)


class FoundFacts(NamedTuple):
    title: str
    authors: Sequence[str]
    published_at: datetime | None


def title_is_right(said: Mapping[str, Any], found: FoundFacts) -> bool:
    return _evened(said["title"] or "") == _evened(found.title)


def minute_is_right(said: Mapping[str, Any], found: FoundFacts) -> bool:
    """To the minute that both stand in."""
    if not said["published_at"] or found.published_at is None:
        return not said["published_at"] and found.published_at is None
    wanted = datetime.fromisoformat(said["published_at"])
    return int(wanted.timestamp() // 60) == int(found.published_at.timestamp() // 60)


def authors_found(said: Mapping[str, Any], found: FoundFacts) -> float:
    """F1 of the sets of names."""
    wanted, got = ({_evened(one).casefold() for one in names} for names in (said["authors"] or (), found.authors))
    return 2 * len(wanted & got) / (len(wanted) + len(got)) if wanted or got else 1.0


def _samples(folder: Path, wanted: Callable[[Mapping[str, Any]], dict[str, Any]]) -> list[Sample]:
    """None where the folder is none."""
    if not (folder / TRUTH).exists():
        return []
    truth = json.loads((folder / TRUTH).read_text("utf-8"))
    return [Sample(key, _page(one["url"], _file(folder, key)), **wanted(one)) for key, one in sorted(truth.items())]


def _page(url: str, file: Path) -> Page:
    body = gzip.decompress(file.read_bytes())
    return Page(url=url, body=body, codec=_codec_of(body))


def _codec_of(body: bytes) -> str:
    """Whoever kept a page may have written it anew in UTF-8, and left standing what it says of itself."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return CODECS[decode(body, CharsetKind.HTML).charset]
    return "utf-8"


def _file(folder: Path, key: str) -> Path:
    return folder / (key if key.endswith(".html.gz") else f"{key.removesuffix('.html')}.html.gz")


def _text_of(one: Mapping[str, Any]) -> str:
    return "\n".join(line for section in one["sections"] for line in (*section["headline"], *section["paragraphs"]))


def _evened(text: str) -> str:
    return " ".join(text.split())
