"""The client has a method for each operation of the API, is what the description says, and is light."""

import inspect
import subprocess
import sys
from pathlib import Path

from tests.architecture.modules import ROOT, SOURCE

from headwater.client import Client
from headwater.serve.app import described_app
from headwater.serve.client_code.methods import MethodCode, iterator_name
from headwater.serve.client_code.writing import client_modules, generated_files
from headwater.serve.described import operations_of, schemas_of

CLIENT = SOURCE / "client"
# Of the client itself.
BY_HAND = {"close", "wait_for_operation"}
HEAVY = ("fastapi", "starlette", "pydantic", "asyncpg", "aiohttp", "uvicorn", "lxml", "numpy", "selectolax")


def test_generated_modules_are_what_the_description_says() -> None:
    written = {file.relative_to(CLIENT).as_posix(): file.read_text("utf-8") for file in generated_files(CLIENT)}
    wanted = client_modules(described_app().openapi())
    assert set(written) == set(wanted), "run: make client"
    assert [name for name, text in wanted.items() if written[name] != formatted(text, name)] == [], "run: make client"


def test_every_operation_has_a_method_and_every_method_an_operation() -> None:
    description = described_app().openapi()
    every = operations_of(description)
    assert len({one.name for one in every}) == len(every), "two operations of one name: name their functions apart"
    operations = [one for one in every if one.is_current]
    names = [one.name for one in operations]
    paged = {iterator_name(one.name) for one in operations if MethodCode(one, schemas_of(description)).paged}
    public = {name for name, _ in inspect.getmembers(Client, inspect.isfunction) if not name.startswith("_")}
    assert public == {*names, *paged, *BY_HAND}


def test_importing_the_client_loads_nothing_heavy() -> None:
    code = f"import sys, headwater.client; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def formatted(text: str, name: str) -> str:
    sort = ("check", "--quiet", "--fix", "--select", "I")
    return ruff(("format",), ruff(sort, text, name), name)


def ruff(words: tuple[str, ...], text: str, name: str) -> str:
    place = ("--no-cache", "--stdin-filename", f"src/headwater/client/{name}", "-")
    command = (str(Path(sys.executable).with_name("ruff")), *words, *place)
    return subprocess.run(command, input=text, cwd=ROOT, capture_output=True, text=True, check=True).stdout
