"""The documents as a site: whole, searchable, asking no other host for anything, and refused where a link is broken."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.deploy.deployment import ROOT

# What a browser loads by itself; a link that a person follows may lead anywhere.
LOADED = re.compile(
    r"<(?:script|link|img|iframe|source|video|audio|embed|object)\b[^>]*?\b(?:src|href|data)=[\"']?([^\"' >]+)"
)
IMPORTED = re.compile(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]+)")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for file in (*ROOT.glob("*.md"), ROOT / "LICENSE", ROOT / "mkdocs.yml"):
        shutil.copy(file, tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "site", tmp_path / ".ci")
    return tmp_path


def built(project: Path) -> "subprocess.CompletedProcess[str]":
    command = (project / ".ci" / "site", sys.executable)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.long
def test_the_site_is_whole_and_loads_nothing_from_elsewhere(project: Path) -> None:
    done = built(project)
    assert done.returncode == 0, done.stdout + done.stderr
    site = project / "build" / "site"
    pages = {page.relative_to(site): page.read_text("utf-8") for page in site.rglob("*.html")}
    documents = [*project.glob("*.md"), *project.glob("docs/**/*.md")]
    named = {str(one.relative_to(project).with_suffix(".html")).replace("README", "index") for one in documents}
    assert named <= {str(name) for name in pages}
    loaded = {(str(name), address) for name, text in pages.items() for address in LOADED.findall(text)}
    assert loaded
    assert not [one for one in loaded if re.match(r"(?:[a-z]+:)?//", one[1])]
    assert not [one for sheet in site.rglob("*.css") for one in IMPORTED.findall(sheet.read_text("utf-8"))]
    index = json.dumps(json.loads((site / "search.json").read_text("utf-8")))
    assert "capacity" in index.lower()


@pytest.mark.long
@pytest.mark.parametrize("link", ["nowhere.md", "operations.md#no-such-heading"])
def test_a_broken_link_fails(project: Path, link: str) -> None:
    with (project / "docs" / "states.md").open("a") as page:
        page.write(f"\n[broken]({link})\n")
    done = built(project)
    assert done.returncode
    assert link.partition("#")[2] or "states" in done.stdout + done.stderr
