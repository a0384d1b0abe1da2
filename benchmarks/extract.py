"""How well and how fast pages are read, beside trafilatura full and fast, resiliparse and readability in the same run.

`articles` and `world`: precision, recall and F1 over runs of four words. `world` also title, date and authors.
`strings`: strings that must and must not be in the text. `publishers`: ROUGE-Lsum of every page as read by a template
that four others of its publisher taught, or where that refuses as usual; see `benchmarks/templates.py`.

Run: python -m benchmarks.extract [--articles FOLDER] [--world FOLDER] [--strings FOLDER] [--publishers FOLDER]
A FOLDER holds `ground-truth.json` and `<key>.html.gz`; a set without its folder is left out. Pages of the simulated web
are read in any case. `--third N` takes one third of each set only, `--pages` shows pages that trafilatura reads better.
`cpu_vs_trafilatura` is our processor time as a share of that of trafilatura's full run.
"""

import argparse
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from benchmarks import templates
from benchmarks.extract_readers import Reader, peers_at_hand, trafilatura_full
from benchmarks.extract_sets import (
    DATA,
    FoundFacts,
    PageSet,
    Sample,
    Shares,
    articles,
    authors_found,
    by_runs,
    f1_of,
    mean_shares,
    minute_is_right,
    strings,
    third_of,
    title_is_right,
    world,
)
from benchmarks.extract_simulated import Simulated, simulated_pages
from benchmarks.templates_score import f1 as rouge
from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.extractor import extract
from headwater.extraction.page import Page

NOW = datetime(2027, 1, 1, tzinfo=UTC)  # after every real page
ROUNDS = 2
OURS, PLAIN = "ours", "trafilatura"
FIVE_POINTS = 0.05


@dataclass(slots=True)
class Readings:
    """One reader on one set."""

    name: str
    shares: list[Shares] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    figures: tuple[float, float, float] = (0.0, 0.0, 0.0)  # precision, recall, F1


class SetResult(NamedTuple):
    pages: PageSet
    readings: Mapping[str, Readings]

    @property
    def worse(self) -> list[int]:
        """Pages that trafilatura reads better by five points."""
        both = zip(self.readings[OURS].shares, self.readings[PLAIN].shares, strict=True)
        return [at for at, (own, plain) in enumerate(both) if own.f1 < plain.f1 - FIVE_POINTS]


def ours(page: Page) -> Article | NotAnArticle:
    return extract(page, NOW)


def our_text(page: Page) -> str:
    return text_in(ours(page))


def text_in(found: Article | NotAnArticle) -> str:
    return found.text if isinstance(found, Article) else ""


def facts_in(found: Article | NotAnArticle) -> FoundFacts:
    if not isinstance(found, Article):
        return FoundFacts(found.title, (), None)
    return FoundFacts(found.title, found.authors, found.published_at)


def read_set(pages: PageSet, readers: Mapping[str, Reader], rounds: int) -> SetResult:
    """Processor time of each page and reader is the least of several rounds; the readers take turns."""
    readings = {name: Readings(name) for name in readers}
    for sample in pages.samples:
        for name, reader in readers.items():
            text, seconds = timed(reader, sample.page, rounds)
            readings[name].shares.append(pages.measure(sample, text))
            readings[name].seconds.append(seconds)
    for one in readings.values():
        total = pages.total(one.shares)
        one.figures = (*total, f1_of(total))
    return SetResult(pages, readings)


def timed(reader: Reader, page: Page, rounds: int) -> tuple[str, float]:
    text, taken = "", list[float]()
    for _ in range(rounds):
        began = time.process_time()
        text = reader(page)
        taken.append(time.process_time() - began)
    return text, min(taken)


def fact_figures(samples: Sequence[Sample]) -> dict[str, float]:
    found = [(sample.said, facts_in(ours(sample.page))) for sample in samples]
    return {
        "world_title": share_of(title_is_right(said, one) for said, one in found),
        "world_date_minute": share_of(minute_is_right(said, one) for said, one in found),
        "world_authors": mean(authors_found(said, one) for said, one in found),
    }


def publisher_figures(folder: Path, peers: Mapping[str, Reader], third: int | None) -> tuple[dict[str, float], int]:
    """And on how many pages trafilatura alone is better by five points."""
    publishers = templates.real_publishers(folder)
    chosen = [samples for name, samples in publishers.items() if third is None or third_of(name) == third]
    pages = [page for samples in chosen for page in templates.outcomes(samples)]
    if not pages:
        return {}, 0
    served = [page for page in pages if page.is_served]
    told = [page for page in served if not page.is_live]
    others = {
        f"publishers_f1_{name}": mean(rouge(page.sample.truth, read(page.sample.page).split("\n")) for page in pages)
        for name, read in peers.items()
    }
    figures = {
        "publishers_f1": mean(page.fallen_back for page in pages),
        "publishers_served": len(served) / len(pages),
        "served_f1": mean(page.fallen_back for page in told) if told else 0.0,
    }
    return figures | others, sum(page.fallen_back < page.plain - FIVE_POINTS for page in pages)


def simulated_figures(pages: Sequence[Simulated]) -> dict[str, float]:
    found = [(ours(one.page), one) for one in pages]
    measured = [by_runs(Sample(one.item.url, one.page, one.item.text), text_in(read)) for read, one in found]
    return {
        "simweb_f1": f1_of(mean_shares(measured)),
        "simweb_title": share_of(read.title == one.item.title for read, one in found),
        "simweb_date": share_of(
            isinstance(read, Article) and read.published_at == one.item.published for read, one in found
        ),
    }


def share_of(right: Iterable[bool]) -> float:
    return mean(map(float, right))


def figures(results: Sequence[SetResult]) -> dict[str, float]:
    names = {"strings": "strings_f"}
    found: dict[str, float] = {}
    for pages, readings in results:
        name = names.get(pages.name, f"{pages.name}_f1")
        found[name] = readings[OURS].figures[2]
        found |= {f"{name}_{peer}": readings[peer].figures[2] for peer in readings if peer != OURS}
    for peer in results[0].readings if results else ():
        taken = [seconds for one in results for seconds in one.readings[peer].seconds]
        found["cpu_ms" if peer == OURS else f"cpu_ms_{peer}"] = 1000 * mean(taken)
    if results:
        found["cpu_vs_trafilatura"] = found["cpu_ms"] / found[f"cpu_ms_{PLAIN}"]
    return found


def show_set(result: SetResult, *, each_page: bool) -> None:
    print(f"{result.pages.name}: {len(result.pages.samples)} pages{'':14}precision  recall      F1  CPU ms")
    for name, one in result.readings.items():
        precision, recall, f1 = one.figures
        print(f"  {name:36}{precision:9.4f}{recall:8.4f}{f1:8.4f}{1000 * mean(one.seconds):8.1f}")
    for at in result.worse if each_page else ():
        own, plain = (result.readings[name].shares[at].f1 for name in (OURS, PLAIN))
        print(f"    {result.pages.samples[at].key[:60]:60} {own:.3f} {plain:.3f}")


def in_third(pages: PageSet, third: int | None) -> PageSet:
    chosen = [sample for sample in pages.samples if third is None or third_of(sample.key) == third]
    return pages._replace(samples=chosen)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    for name in ("articles", "world", "strings", "publishers"):
        parser.add_argument(f"--{name}", type=Path, default=DATA / name)
    parser.add_argument("--third", type=int, choices=range(3), help="only this third of each set, by hash of the key")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="readings of each page, the fastest of which counts")
    parser.add_argument("--pages", action="store_true", help="a line for every page that trafilatura reads better")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    logging.disable(logging.CRITICAL)
    peers = peers_at_hand()
    readers: dict[str, Callable[[Page], str]] = {OURS: our_text, PLAIN: trafilatura_full, **peers}
    loaded = (articles(given.articles), world(given.world), strings(given.strings))
    sets = [chosen for one in loaded if (chosen := in_third(one, given.third)).samples]
    result: dict[str, float] = {}
    worse: dict[str, int] = {}
    results: list[SetResult] = []
    for pages in sets:
        results.append(read := read_set(pages, readers, given.rounds))
        show_set(read, each_page=given.pages)
        worse[pages.name] = len(read.worse)
        result |= fact_figures(pages.samples) if pages.name == "world" else {}
    if (given.publishers / "ground-truth.json").exists():
        found, worse["publishers"] = publisher_figures(given.publishers, peers, given.third)
        result |= found
    result = figures(results) | result | simulated_figures(simulated_pages())
    for name, figure in result.items():
        print(f"  {name:36} {figure:8.4f}")
    rounded = {name: round(figure, 4) for name, figure in result.items()}
    print(json.dumps({**rounded, "worse_by_5": worse}))


if __name__ == "__main__":
    main()
