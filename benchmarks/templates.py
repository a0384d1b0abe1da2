"""How well and how fast learned templates read the pages of a host, beside trafilatura in the same run.

Every page is read by a template learned from four others of its publisher, and where that refuses by the general
extractor. The score is ROUGE-Lsum with optional paragraphs, see `benchmarks/templates_score.py`; means over the pages.

Run: python -m benchmarks.templates [--publishers FOLDER] [--pages]
FOLDER holds `ground-truth.json` and `<Publisher>_<number>.html.gz`. Without it, pages of the simulated web stand in.
"""

import argparse
import gzip
import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from statistics import mean, median

import orjson
import trafilatura

from benchmarks.extract_simulated import body_at
from benchmarks.templates_score import f1
from headwater.extraction.article import Article
from headwater.extraction.extractor import extract
from headwater.extraction.page import Page
from headwater.extraction.templates.learner import TrainingPage, learn
from headwater.extraction.templates.server import ServedPage, TemplateRefusal, serve
from headwater.extraction.templates.template import Template, template_to_json
from headwater.simweb.world import World

PUBLISHERS = Path(__file__).parents[2] / "shared" / "data" / "publishers"
NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
SIMULATED_PUBLISHERS = 24
TRAINING_PAGES = 4
ROUNDS = 5
FIVE_POINTS = 0.05
LIVE = "LiveBlogPosting"


@dataclass(frozen=True, slots=True)
class Sample:
    name: str
    page: Page
    html: str
    truth: Sequence[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One page read by everybody, and how well."""

    sample: Sample
    template: Template | None
    answer: ServedPage | TemplateRefusal | None
    fallen_back: float  # the template, or where it refuses the general extractor of ours
    fallen_back_plain: float  # the same with trafilatura
    general: float
    plain: float
    plain_fast: float

    @property
    def is_served(self) -> bool:
        return isinstance(self.answer, ServedPage)

    @property
    def is_live(self) -> bool:
        return LIVE in self.sample.html

    @property
    def why(self) -> str:
        return self.answer.reason if isinstance(self.answer, TemplateRefusal) else "" if self.answer else "not learned"


def real_publishers(folder: Path) -> dict[str, list[Sample]]:
    truth = json.loads((folder / "ground-truth.json").read_text("utf-8"))
    publishers: dict[str, list[Sample]] = defaultdict(list)
    for key, one in sorted(truth.items()):
        name = key.removesuffix(".gz").removesuffix(".html")
        body = gzip.decompress((folder / f"{name}.html.gz").read_bytes())
        publishers[name.rpartition("_")[0]].append(sample_of(name, Page(url=one["url"], body=body), one["body"]))
    return publishers


def simulated_publishers() -> dict[str, list[Sample]]:
    world = World(7, SIMULATED_PUBLISHERS, start=NOW, rate=0.5)
    return {
        publisher.home: [
            sample_of(item.url, Page(url=item.url, body=body_at(world, item.url), codec=publisher.charset), lines)
            for item in islice(world.items(publisher, NOW), TRAINING_PAGES + 1)
            if (lines := item.text.split("\n"))
        ]
        for publisher in world.publishers
        if publisher.kind == "news"
    }


def sample_of(name: str, page: Page, truth: Sequence[str]) -> Sample:
    return Sample(name, page, page.html(), truth)


def plain_trafilatura(html: str) -> str:
    return trafilatura.extract(html, include_comments=False) or ""


def fast_trafilatura(html: str) -> str:
    return trafilatura.extract(html, include_comments=False, fast=True) or ""


def training_page(page: Page) -> TrainingPage:
    found = extract(page, NOW)
    return TrainingPage(
        url=page.url,
        html=page.html(),
        general=found.text if isinstance(found, Article) else "",
        title=found.title,
        author=found.author if isinstance(found, Article) else "",
        published_at=found.published_at if isinstance(found, Article) else None,
    )


def outcomes(samples: Sequence[Sample]) -> list[Outcome]:
    """Each page of one publisher, read by what its other pages taught."""
    examples = [training_page(sample.page) for sample in samples]
    return [
        outcome(sample, [*examples[at + 1 :], *examples[:at]][:TRAINING_PAGES], examples[at].general)
        for at, sample in enumerate(samples)
    ]


def outcome(sample: Sample, training: Sequence[TrainingPage], general: str) -> Outcome:
    learned = learn(training)
    template = learned if isinstance(learned, Template) else None
    answer = serve(template, sample.page.markup()) if template else None
    by_general, by_plain, by_fast = (
        f1(sample.truth, text.split("\n"))
        for text in (general, plain_trafilatura(sample.html), fast_trafilatura(sample.html))
    )
    served = f1(sample.truth, answer.paragraphs) if isinstance(answer, ServedPage) else None
    return Outcome(
        sample,
        template,
        answer,
        fallen_back=by_general if served is None else served,
        fallen_back_plain=by_plain if served is None else served,
        general=by_general,
        plain=by_plain,
        plain_fast=by_fast,
    )


def milliseconds(pages: Sequence[Outcome], *readers: Callable[[Outcome], object]) -> list[float]:
    """Processor time a page: of each page the least of several rounds; the readers take turns.

    Ours begins with the bytes that came, as in the product; the others are given the text decoded before.
    """
    taken = {(reader, at): list[float]() for reader in readers for at in range(len(pages))}
    for _ in range(ROUNDS):
        for (reader, at), seconds in taken.items():
            began = time.process_time()
            reader(pages[at])
            seconds.append(time.process_time() - began)
    return [1000 * sum(min(taken[reader, at]) for at in range(len(pages))) / (len(pages) or 1) for reader in readers]


def read_by_template(page: Outcome) -> object:
    return serve(page.template, page.sample.page.markup()) if page.template else None


def read_by_trafilatura(page: Outcome) -> object:
    return plain_trafilatura(page.sample.html)


def read_by_fast(page: Outcome) -> object:
    return fast_trafilatura(page.sample.html)


def figures(pages: Sequence[Outcome]) -> dict[str, float]:
    served = [page for page in pages if page.is_served]
    template_ms, plain_ms, fast_ms = milliseconds(served, read_by_template, read_by_trafilatura, read_by_fast)
    sizes = [len(orjson.dumps(template_to_json(page.template))) for page in pages if page.template]
    return {
        "f1": mean(page.fallen_back for page in pages),
        "f1_with_trafilatura_as_fallback": mean(page.fallen_back_plain for page in pages),
        "f1_served_only": mean(page.fallen_back for page in served) if served else 0.0,
        "f1_general": mean(page.general for page in pages),
        "f1_trafilatura": mean(page.plain for page in pages),
        "f1_trafilatura_fast": mean(page.plain_fast for page in pages),
        "served": len(served) / len(pages),
        "worse_than_5_points": sum(page.fallen_back < page.plain - FIVE_POINTS for page in pages),
        "cpu_ms": template_ms,
        "cpu_ms_trafilatura": plain_ms,
        "cpu_ms_trafilatura_fast": fast_ms,
        "cpu_vs_trafilatura": plain_ms / template_ms if template_ms else 0.0,
        "template_bytes": median(sizes) if sizes else 0,
        "pages": len(pages),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    arguments.add_argument("--publishers", type=Path, default=PUBLISHERS)
    arguments.add_argument("--pages", action="store_true", help="one line for every page")
    given = arguments.parse_args()
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    is_real = (given.publishers / "ground-truth.json").exists()
    publishers = real_publishers(given.publishers) if is_real else simulated_publishers()
    pages = [page for samples in publishers.values() for page in outcomes(samples)]
    for page in pages if given.pages else ():
        print(f"  {page.sample.name[-40:]:40} {page.fallen_back:.3f} {page.plain:.3f} {page.why}")
    result = figures(pages)
    print(f"{len(pages)} {'real' if is_real else 'simulated'} pages of {len(publishers)} publishers, one core")
    for name, figure in result.items():
        print(f"  {name:36} {figure:10.4f}")
    print(json.dumps({name: round(figure, 4) for name, figure in result.items()}))


if __name__ == "__main__":
    main()
