"""Distributions that bring plug-ins, with metadata as an installer writes it."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.fork_servers import as_users_do

from headwater.extraction.pool.links import ForkServerLink
from headwater.plugins import PluginGroup, installed, loaded

Installs = Callable[[str, str, str], None]


@contextmanager
def installing(group: PluginGroup, site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installs]:
    """Puts distributions where this process and its children find them: by name, host and the code of `read`."""
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)
    monkeypatch.setattr(ForkServerLink, "open", as_users_do)

    def install(name: str, host: str, code: str) -> None:
        module = name.replace("-", "_")
        metadata = site / f"{module}-1.2.dist-info"
        metadata.mkdir(parents=True)
        (site / f"{module}.py").write_text(code)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        (metadata / "entry_points.txt").write_text(f"[{group.name}]\n{host} = {module}:read\n")
        _forget()

    yield install
    for module in site.glob("*.py"):
        sys.modules.pop(module.stem, None)
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    installed.cache_clear()
    loaded.cache_clear()
