"""Fetched answers are parsed in children: the processes that poll and fetch never do. The library reads in its
caller's process, and nothing of ours calls it.
"""

import ast
import subprocess
import sys

import pytest
from tests.architecture.modules import MODULES, SOURCE, nodes_of

IN_FEEDS, IN_PAGES = "library/feeds.py", "library/pages.py"
# Each with the only modules that may name it.
PARSERS = {
    "read_answer": {"discover/polls/work.py"},
    "judge_answer": {"discover/polls/reading.py"},
    "reader_of": {"discover/polls/work.py", "discover/polls/reading.py", "discover/searching/search.py"},
    "read_feed": {"discover/polls/reading.py", "discover/feeds/__init__.py", IN_FEEDS},
    "read_sitemap": {"discover/polls/reading.py"},
    "read_listing": {"discover/polls/reading.py", "discover/searching/search.py"},
    "read_api": {"discover/polls/reading.py"},
    "vacancies_in": {"discover/polls/reading.py", "extraction/jobs/answers.py", IN_PAGES},
    "extract": {"extraction/work.py", "extraction/training.py", IN_PAGES},
}


def importers_of(name: str) -> set[str]:
    found = set()
    for path in MODULES:
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headwater."):
                named = {alias.name for alias in node.names}
                found |= {str(path.relative_to(SOURCE))} if name in named else set()
    return found


@pytest.mark.parametrize("name", PARSERS)
def test_only_what_runs_in_children_parses_answers(name: str) -> None:
    assert importers_of(name) == PARSERS[name]


def test_nothing_of_ours_reads_by_the_library() -> None:
    assert (
        importers_of("extract_page")
        == importers_of("feed_from")
        == importers_of("vacancies_on_page")
        == {"__init__.py"}
    )


def test_a_reader_of_channels_loads_neither_the_web_nor_the_database_nor_language_models() -> None:
    asked = "import sys, headwater.discover.polls.work as _; print(*(one.partition('.')[0] for one in sys.modules))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "lxml" in loaded
    assert loaded.isdisjoint({"aiohttp", "asyncpg", "trafilatura", "py3langid", "numpy"})
