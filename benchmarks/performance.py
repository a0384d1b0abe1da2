"""Runs the benchmarks that people ask for first, and writes docs/performance.md with their figures and plots.

Run: python -m benchmarks.performance [NAME …] [--quick] [--only-page]

Each is a process of its own, as its `make` target starts it; its last line is its figures. The page keeps them at its
end, so that a run of some leaves those of the others as they were, with their dates. `--only-page` runs nothing.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.plots import Bar, Plot, drawn
from headwater import __version__

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "performance.md"
PICTURES = DOCS / "pictures"
KEPT = re.compile(r"```json\n(\{.*\})\n```")

Figures = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Section:
    """One benchmark on the page: its plots by the name of their picture, and what its figures say in a sentence."""

    name: str
    title: str
    asks: str
    plots: Callable[[Figures], Mapping[str, Plot]]
    says: Callable[[Figures], str]
    knows_quick: bool = True


def bars(values: Mapping[str, float], *ours: str) -> list[Bar]:
    return [Bar(name, value, is_ours=name in ours) for name, value in values.items()]


def entries_of(size: str) -> str:
    return f"{int(size):,} URLs"


def queue_plots(found: Figures) -> dict[str, Plot]:
    sizes = {entries_of(size): p95 for size, p95 in found["paced_p95_ms_by_size"].items()}
    shares = {f"{share} of the hosts": p95 for share, p95 in found["paced_p95_ms_by_share_limited"].items()}
    rates = {"host first (ours)": float(found["claims_per_s"]), "textbook": float(found["textbook_per_s"])}
    less = "milliseconds, 95th percentile of a claim of 10; shorter is better, equal is the point"
    return {
        "claim-backlog": Plot("A claim, by the length of the queue", less, [("", bars(sizes, *sizes))]),
        "claim-limited": Plot(
            "A claim, by the share of hosts that may not be asked yet", less, [("", bars(shares, *shares))]
        ),
        "claim-rate": Plot(
            "Claims settled in a second, 1 M URLs on 100,000 hosts",
            "longer is better",
            [("", bars(rates, "host first (ours)"))],
            told="{:,.0f}",
        ),
    }


def queue_says(found: Figures) -> str:
    return (
        f"{found['claims_per_s']:,} claims and settlements a second over {found['connections']} connections, "
        f"{found['vs_textbook']} times the textbook's statement; {found['submit_per_s']:,} URLs submitted a second. "
        f"The 95th percentile with the longest queue is {found['p95_ratio_big_to_10k']} times that of 10,000 URLs, and "
        f"{found['p95_ratio_99_to_0_limited']} times as long with 99 % of the hosts limited as with none."
    )


CRAWLERS = {
    "": "ours, no template yet",
    "warm_": "ours, templates learned",
    "scrapy_": "Scrapy + trafilatura",
    "fast_scrapy_": "the same, fast=True",
    "two_scrapy_": "two such processes",
}


def of_crawlers(found: Figures, figure: str) -> list[Bar]:
    values = {name: float(found[prefix + figure]) for prefix, name in CRAWLERS.items()}
    return bars(values, CRAWLERS[""], CRAWLERS["warm_"])


def path_plots(found: Figures) -> dict[str, Plot]:
    return {
        "path-rate": Plot(
            "Pages from the queue to a stored document, a second",
            "longer is better",
            [("", of_crawlers(found, "pages_per_s"))],
        ),
        "path-cpu": Plot(
            "Processor time of a page", "milliseconds; shorter is better", [("", of_crawlers(found, "cpu_ms_per_page"))]
        ),
        "path-memory": Plot(
            "Memory of all processes of a side, without a database server",
            "MB (PSS), the most of a run; shorter is better",
            [("", of_crawlers(found, "rss_mb"))],
            told="{:,.0f}",
        ),
    }


def path_says(found: Figures) -> str:
    return (
        f"{found['pages']:,} pages of {found['page_kb']} kB on {found['hosts']} hosts of one simulated web, the same "
        f"cores: {found['vs_scrapy']} times Scrapy's pages a second, {found['warm_vs_scrapy']} times with learned "
        f"templates; for each second of processor time {found['vs_scrapy_per_cpu_s']} and "
        f"{found['warm_vs_scrapy_per_cpu_s']} times. Requests that came too soon for their host: "
        f"{found['requests_too_soon'] + found['warm_requests_too_soon']} of ours, "
        f"{found['scrapy_requests_too_soon']} of Scrapy's."
    )


POLICIES = {
    "fixed": "evenly",
    "tiers": "tiers by age",
    "rate-proportional": "by rate",
    "square root": "square root of the rate",
    "adaptive": "adaptive (ours)",
    "adaptive with push": "ours, hubs push some",
}


def cadence_plots(found: Figures) -> dict[str, Plot]:
    rows = {POLICIES.get(name, name): row for name, row in found["table"].items()}
    ours = ("adaptive (ours)", "ours, hubs push some")
    return {
        f"cadence-{short}": Plot(
            f"From publication to discovery, mean of {each}",
            "minutes, at equal polls; shorter is better",
            [("", bars({name: row[key] for name, row in rows.items()}, *ours))],
        )
        for short, key, each in (("posts", "per_post", "all posts"), ("feeds", "per_feed", "all feeds"))
    }


def cadence_says(found: Figures) -> str:
    told = (
        f"{found['feeds']} feeds, {'of real publishers' if found['is_real'] else 'invented'}, judged from "
        f"{found['window']['judged_from'][:10]} to {found['window']['judged_until'][:10]}: "
        f"{found['per_post_vs_tiers']} times sooner than tiers for each post, {found['per_feed_vs_tiers']} for each "
        "feed."
    )
    if "push_share" not in found:
        return told
    return (
        f"{told} With hubs for {found['push_share']:.0%} of the feeds, one in ten of them silent: "
        f"{found['per_post_vs_tiers_with_push']} times; {found['silent_hubs_trusted']} silent hubs were trusted at the "
        "end."
    )


READERS = {
    "": "ours",
    "_trafilatura": "trafilatura",
    "_trafilatura_fast": "trafilatura, fast",
    "_resiliparse": "resiliparse",
    "_readability": "readability-lxml",
}
SETS = {"articles_f1": "news articles", "world_f1": "news of 30 countries", "strings_f": "pages of all kinds"}


def of_readers(found: Figures, figure: str) -> list[Bar]:
    values = {name: found[figure + suffix] for suffix, name in READERS.items() if figure + suffix in found}
    return bars(values, "ours")


def extract_plots(found: Figures) -> dict[str, Plot]:
    sets = [(name, of_readers(found, figure)) for figure, name in SETS.items() if figure in found]
    return {
        "extract-f1": Plot("Text of a page: F1", "1 is all and nothing else", sets, told="{:.3f}", begins=0.6),
        "extract-cpu": Plot(
            "Processor time of a page", "milliseconds; shorter is better", [("", of_readers(found, "cpu_ms"))]
        ),
    }


def extract_says(found: Figures) -> str:
    return (
        f"Titles exact {found['world_title']:.1%}, authors {found['world_authors']:.3f} (F1), dates right to the "
        f"minute {found['world_date_minute']:.1%}. Of the publishers that templates were learned of, "
        f"{found['publishers_served']:.0%} of the pages are read by them, with F1 {found['served_f1']:.3f}; all of "
        f"their pages {found['publishers_f1']:.3f}. Pages that trafilatura reads better by five points: "
        f"{sum(found['worse_by_5'].values())}."
    )


def net_plots(found: Figures) -> dict[str, Plot]:
    weights = {f"{count} fetches at once": found[f"rss_mb_at_{count}"] for count in ("1", "100", "1000")}
    return {
        "memory-fetches": Plot(
            "Memory of a process that fetches", "MB; shorter is better", [("", bars(weights, *weights))]
        )
    }


def net_says(found: Figures) -> str:
    return (
        f"{found['vs_bare_aiohttp']} times the pages that bare aiohttp fetches with the same processor time, with "
        f"robots.txt, slots, guard and caps; {found['kb_per_fetch']} kB for each further fetch in the air; kept "
        f"connections give {found['pooling_gain']} times the rate."
    )


SECTIONS = (
    Section("frontier", "The queue", "How long does a claim take when the queue is long?", queue_plots, queue_says),
    Section("path", "The whole path", "What does a page cost, from the queue to the archive?", path_plots, path_says),
    Section(
        *("cadence", "Polling", "How soon is a post found, at equal polls?", cadence_plots, cadence_says),
        knows_quick=False,
    ),
    Section(
        *("extract", "Reading", "How well is a page read, and at what price?", extract_plots, extract_says),
        knows_quick=False,
    ),
    Section("net", "Fetching", "What do politeness and guards cost?", net_plots, net_says, knows_quick=False),
)


def run(section: Section, *, is_quick: bool) -> dict[str, Any]:
    """Its lines are shown as they come; the last one is kept with the day, the version and the machine."""
    quick = ["--quick"] if is_quick and section.knows_quick else []
    command = [sys.executable, "-m", f"benchmarks.{section.name}", *quick]
    last = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            last = line
    if process.returncode:
        sys.exit(f"benchmarks.{section.name} ended with code {process.returncode}; the page stays as it was.")
    return {**json.loads(last), "benchmark": section.name, "is_quick": bool(quick), **_circumstances()}


def _circumstances() -> dict[str, Any]:
    return {
        "on": f"{datetime.now(UTC):%Y-%m-%d}",
        "version": __version__,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def kept_figures(page: str) -> dict[str, dict[str, Any]]:
    found = (json.loads(one) for one in KEPT.findall(page))
    return {one["benchmark"]: one for one in found}


def page_of(kept: Mapping[str, Figures]) -> str:
    return "\n".join(_lines(kept))


def _lines(kept: Mapping[str, Figures]) -> Iterator[str]:
    yield "# Performance\n"
    yield "Written by `make bench`, plots included. Ratios within a run hold on another machine, digits do not; what"
    yield "else the machine did meanwhile is in them. [Beside others](comparison.md) says what was compared, and with"
    yield "whom not. [Operations](operations.md) has what polls and pages cost, for planning.\n"
    there = [section for section in SECTIONS if section.name in kept]
    for section in there:
        yield from _section(section, kept[section.name])
    yield "## The figures as the runs printed them\n"
    for section in there:
        yield f"```json\n{json.dumps(kept[section.name])}\n```\n"


def _section(section: Section, found: Figures) -> Iterator[str]:
    yield f"## {section.title}\n"
    yield f"{section.asks} {section.says(found)}\n"
    for name, plot in section.plots(found).items():
        yield f"![{plot.title}](pictures/performance-{name}.svg)\n"
    quick = " QUICK=1" if found["is_quick"] else ""
    push = f" PUSH={found['push_share']}" if "push_share" in found else ""
    yield (
        f"`make bench-{section.name}{quick}{push}`, {found['on']}, version {found['version']}, "
        f"Python {found['python']}, {found['cores']} cores.\n"
    )


def write(kept: Mapping[str, Figures]) -> None:
    for section in SECTIONS:
        for name, plot in section.plots(kept[section.name]).items() if section.name in kept else ():
            (PICTURES / f"performance-{name}.svg").write_text(drawn(plot))
    PAGE.write_text(page_of(kept))


def wanted(names: Sequence[str]) -> list[Section]:
    return [section for section in SECTIONS if not names or section.name in names]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    # None at all is a choice too, which argparse compares as a list.
    parser.add_argument("names", nargs="*", choices=[[], *(section.name for section in SECTIONS)], metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="shorter runs where a benchmark has them")
    parser.add_argument("--only-page", action="store_true", help="run nothing, draw and write again what is kept")
    given = parser.parse_args()
    kept = kept_figures(PAGE.read_text()) if PAGE.exists() else {}
    for section in () if given.only_page else wanted(given.names):
        kept[section.name] = run(section, is_quick=given.quick)
        # After each: what was measured is not lost when a later one fails.
        write(kept)
    write(kept)


if __name__ == "__main__":
    main()
