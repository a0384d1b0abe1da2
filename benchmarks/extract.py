"""How well and how fast articles are read, beside trafilatura alone in the same run.

Quality is precision, recall and F1 over runs of four words, as the article extraction benchmark of Scrapinghub defines
it: shares of each page's runs, so that long pages count no more than short ones, then means over the pages.

Run: python -m benchmarks.extract [--articles FOLDER]
FOLDER holds `ground-truth.json` and `<key>.html.gz`. Without it, pages of the simulated web stand in.
"""

import argparse
import gzip
import json
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import NamedTuple
from urllib.parse import urlsplit

import trafilatura

from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.extractor import extract
from headwater.extraction.page import Page
from headwater.simweb.message import Request
from headwater.simweb.world import Item, World

ARTICLES = Path(__file__).parents[2] / "shared" / "data" / "articles"
NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
PUBLISHERS = 72
PER_PUBLISHER = 5
ROUNDS = 3
RUN = 4
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Sample:
    page: Page
    truth: str
    item: Item | None = None


class Shares(NamedTuple):
    """Of all runs of words in either text: in both, only in ours, only in the truth."""

    both: float
    ours: float
    truth: float


def shares(truth: str, found: str) -> Shares:
    wanted, got = runs(truth), runs(found)
    counts = ((wanted & got).total(), (got - wanted).total(), (wanted - got).total())
    whole = sum(counts) or 1
    return Shares(*(count / whole for count in counts))


def runs(text: str) -> Counter[tuple[str, ...]]:
    words = WORD.findall(text)
    # A text shorter than a run is one run of what it has.
    return Counter(tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1)) if words)


def f1_of(pages: Sequence[Shares]) -> float:
    precision = mean(one.both / (one.both + one.ours) for one in pages if one.both + one.ours)
    recall = mean(one.both / (one.both + one.truth) for one in pages if one.both + one.truth)
    return 2 * precision * recall / (precision + recall)


def real_samples(folder: Path) -> list[Sample]:
    truth = json.loads((folder / "ground-truth.json").read_text("utf-8"))
    return [
        Sample(Page(url=one["url"], body=gzip.decompress((folder / f"{key}.html.gz").read_bytes())), one["articleBody"])
        for key, one in truth.items()
    ]


def simulated_samples() -> list[Sample]:
    world = World(7, PUBLISHERS, start=NOW, rate=0.5)
    return [
        Sample(Page(url=item.url, body=body_at(world, item.url), codec=publisher.charset), item.text, item)
        for publisher in world.publishers
        if publisher.kind == "news"
        for item in islice(world.items(publisher, NOW), PER_PUBLISHER)
    ]


def body_at(world: World, url: str) -> bytes:
    place = urlsplit(url)
    page = world.sites[place.netloc].page(Request("GET", place.netloc, place.path, place.query, {}), NOW)
    assert page is not None
    return page.body


def ours(page: Page) -> Article | NotAnArticle:
    return extract(page, NOW)


def trafilatura_alone(page: Page) -> str:
    return trafilatura.extract(page.html(), include_comments=False) or ""


def trafilatura_fast(page: Page) -> str:
    return trafilatura.extract(page.html(), include_comments=False, fast=True) or ""


def trafilatura_with_metadata(page: Page) -> object:
    return trafilatura.bare_extraction(page.html(), url=page.url, include_comments=False, with_metadata=True)


def text_in(found: Article | NotAnArticle) -> str:
    return found.text if isinstance(found, Article) else ""


def rates(pages: Sequence[Page], readers: Iterable[Callable[[Page], object]]) -> list[float]:
    """Pages per second of processor time each, the best of several rounds; the readers take turns."""
    taken: dict[Callable[[Page], object], list[float]] = {reader: [] for reader in readers}
    for _ in range(ROUNDS):
        for reader, seconds in taken.items():
            began = time.process_time()
            for page in pages:
                reader(page)
            seconds.append(time.process_time() - began)
    return [len(pages) / min(seconds) for seconds in taken.values()]


def share_of(right: Iterable[bool]) -> float:
    return mean(map(float, right))


def figures(samples: Sequence[Sample], simulated: Sequence[Sample]) -> dict[str, float]:
    pages = [sample.page for sample in samples]
    f1, plain, fast = (
        f1_of([shares(sample.truth, read(sample.page)) for sample in samples])
        for read in (lambda page: text_in(ours(page)), trafilatura_alone, trafilatura_fast)
    )
    speed, speed_plain, speed_fast, speed_metadata = rates(
        pages, (ours, trafilatura_alone, trafilatura_fast, trafilatura_with_metadata)
    )
    found = [(ours(sample.page), sample) for sample in simulated]
    return {
        "f1": f1,
        "f1_trafilatura": plain,
        "f1_trafilatura_fast": fast,
        "pages_per_s": speed,
        "speed_vs_trafilatura": speed / speed_plain,
        "speed_vs_trafilatura_fast": speed / speed_fast,
        "speed_vs_trafilatura_with_metadata": speed / speed_metadata,
        "simweb_f1": f1_of([shares(sample.truth, text_in(one)) for one, sample in found]),
        "simweb_title": share_of(one.title == sample.item.title for one, sample in found if sample.item),
        "simweb_date": share_of(
            isinstance(one, Article) and one.published_at == sample.item.published
            for one, sample in found
            if sample.item
        ),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    arguments.add_argument("--articles", type=Path, default=ARTICLES)
    folder: Path = arguments.parse_args().articles
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    simulated = simulated_samples()
    is_real = (folder / "ground-truth.json").exists()
    samples = real_samples(folder) if is_real else simulated
    result = figures(samples, simulated)
    print(f"{len(samples)} {'real' if is_real else 'simulated'} pages, {len(simulated)} of the simulated web, one core")
    for name, figure in result.items():
        print(f"  {name:36} {figure:8.4f}")
    print(json.dumps({name: round(figure, 4) for name, figure in result.items()}))


if __name__ == "__main__":
    main()
