"""Wheel and sdist hold what they must, and nothing that stands on one machine only. Usage: check_packages.py VERSION"""

import re
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Beside the sources, which are compared file by file.
IN_SDIST = {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "requirements.lock", "Makefile"}
ELSEWHERE = {"docs/library.md", "examples/library.py", ".ci/run"}


def main(version: str) -> int:
    problems = [*_of_wheel(version), *_of_sdist(version), *_of_changelog(version)]
    for problem in problems:
        print(f"release: {problem}")
    return int(bool(problems))


def _sources() -> set[str]:
    files = (ROOT / "src" / "headwater").rglob("*")
    return {f"headwater/{file.relative_to(ROOT / 'src' / 'headwater')}" for file in files if _is_ours(file)}


def _is_ours(file: Path) -> bool:
    return file.is_file() and "__pycache__" not in file.parts


def _of_wheel(version: str) -> Iterator[str]:
    wheel = ROOT / "dist" / f"headwater-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        about = opened.read(f"headwater-{version}.dist-info/METADATA").decode()
    own = {name for name in names if not name.startswith(f"headwater-{version}.dist-info/")}
    yield from (f"{name} is not in the wheel" for name in sorted(_sources() - own))
    yield from (f"{name} is in the wheel" for name in sorted(own - _sources()))
    yield from (f"the wheel's metadata has no {name}" for name in _missing_fields(about, version))


def _missing_fields(about: str, version: str) -> Iterator[str]:
    wanted = {"Name": "headwater", "Version": version, "License-Expression": "Apache-2.0", "Requires-Python": ""}
    for name, value in wanted.items():
        if not re.search(rf"^{name}: {re.escape(value)}", about, re.MULTILINE):
            yield f"{name} {value}"


def _of_sdist(version: str) -> Iterator[str]:
    with tarfile.open(ROOT / "dist" / f"headwater-{version}.tar.gz") as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    wanted = {f"src/{name}" for name in _sources()} | IN_SDIST | ELSEWHERE
    yield from (f"{name} is not in the sdist" for name in sorted(wanted - names))


def _of_changelog(version: str) -> Iterator[str]:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", text, re.MULTILINE):
        yield f"CHANGELOG.md has no heading: ## [{version}] - YYYY-MM-DD"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
