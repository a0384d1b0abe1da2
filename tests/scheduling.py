"""Which tests go to which worker: each on its own to the next that is free, those that share something dear to one.

What they share is in the process: a browser, syntax trees of the product, learned templates, a simulated world. Pure
tests go by files: thousands of them take less time each than to be handed out.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

TOGETHER = (
    "tests/browser/",
    "tests/architecture/test_documentation.py",
    "tests/architecture/",
    "tests/growth/test_growth.py",
    "tests/hostile/test_templates_deception.py",
    # Real search servers, which take seconds to start and hundreds of megabytes.
    "tests/integration/deliver/test_elasticsearch.py",
    "tests/unit/simweb/world/",
)
BY_FILES = "tests/unit/"
# By how long one of their tests takes, or waits; all other folders come after them. So no processor is idle at the end.
LONGEST_FIRST = ("endtoend", "browser", "faults", "growth", "architecture", "hostile", "integration")


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Largest groups first, then single tests in the order of their collection.

    `--dist loadgroup` knows groups by what its workers add to the names of tests, which pytest 9.2 no longer lets them.
    """

    def _split_scope(self, nodeid: str) -> str:
        alone = nodeid.partition("::")[0] if nodeid.startswith(BY_FILES) else nodeid
        return next((group for group in TOGETHER if nodeid.startswith(group)), alone)


def scheduling(config: pytest.Config, log: Any) -> GroupScheduling:
    return GroupScheduling(config, log)


def longest_first(items: list[pytest.Item]) -> None:
    places = {f"tests/{name}/": place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get("/".join(item.nodeid.split("/")[:2]) + "/", len(places)))
