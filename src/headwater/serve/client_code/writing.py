"""`make client`: the modules of `headwater.client` that the description of the API makes."""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from headwater.serve.app import described_app
from headwater.serve.client_code.methods import MethodCode
from headwater.serve.client_code.types import TypeCode, class_name, module_name, modules_of_schemas
from headwater.serve.described import REFERENCE, DescribedOperation, Schemas, operations_of, schemas_of

MARK = "Written by `make client` from the description of the API: not to be changed by hand."
SHARED = "shared"
TYPING = ("Any", "Literal", "NotRequired", "TypedDict", "Unpack")
# The client's own code names it: it stays in one place, whichever resources begin long work.
NAMED_BY_HAND = [{"$ref": f"{REFERENCE}OperationShape"}]

Modules = dict[str, list[DescribedOperation]]


def client_modules(description: Mapping[str, Any]) -> dict[str, str]:
    """Text by the path of its file within `headwater.client`, not yet formatted."""
    schemas = schemas_of(description)
    by_tag: Modules = defaultdict(list)
    for one in operations_of(description):
        # Older addresses are second ways to the same.
        if one.is_current:
            by_tag[one.tag].append(one)
    used = {tag: _contents(ops) for tag, ops in by_tag.items()} | {"client": NAMED_BY_HAND}
    homes = modules_of_schemas(used, schemas)
    written = {f"shapes/{home}.py": _shapes(home, homes, schemas) for home in sorted(set(homes.values()))}
    written |= {f"calls/{module_name(tag)}.py": _calls(tag, ops, homes, schemas) for tag, ops in by_tag.items()}
    return written | {"calls/every.py": _every(list(by_tag))}


def _contents(operations: Sequence[DescribedOperation]) -> list[Any]:
    bodies = [one.schema for op in operations for one in (op.body, op.answer) if one is not None]
    return [*bodies, *(asked.schema for op in operations for asked in op.parameters)]


def _shapes(home: str, homes: Mapping[str, str], schemas: Schemas) -> str:
    code = TypeCode(schemas).of_all([name for name, module in homes.items() if module == home])
    about = "of several resources" if home == SHARED else f"of {home.replace('_', ' ')}"
    return f'"""Values {about}.\n\n{MARK}\n"""\n\n{_imports(code, home, homes)}\n\n\n{code}'


def _calls(tag: str, operations: Sequence[DescribedOperation], homes: Mapping[str, str], schemas: Schemas) -> str:
    methods = "\n".join(MethodCode(one, schemas).written() for one in operations)
    helpers = "Connection, in_path" if "in_path(" in methods else "Connection"
    imports = _imports(methods, "", homes, f"from headwater.client.connection import {helpers}")
    head = f'"""Calls about {tag}.\n\n{MARK}\n"""\n\n'
    body = f'class {_mixin(tag)}(Connection):\n    """A part of the client."""\n\n{methods}'
    return f"{head}{imports}\n\n\n{body}"


def _every(tags: Sequence[str]) -> str:
    imports = "\n".join(f"from headwater.client.calls.{module_name(tag)} import {_mixin(tag)}" for tag in tags)
    bases = ", ".join(map(_mixin, tags))
    head = f'"""All calls.\n\n{MARK}\n"""\n\n'
    return f'{head}{imports}\n\n\nclass ApiCalls({bases}):\n    """A method for each operation of the API."""\n'


def _mixin(tag: str) -> str:
    return f"{class_name(tag)}Calls"


def _imports(code: str, home: str, homes: Mapping[str, str], *further: str) -> str:
    """Of the names that a module uses; its own shapes need none."""
    nodes = ast.walk(ast.parse(code if home else f"class Calls:\n{code}"))
    words = {node.id for node in nodes if isinstance(node, ast.Name)}
    lines = ["from collections.abc import Iterator"] if "Iterator" in words else []
    if typing := [name for name in TYPING if name in words]:
        lines.append(f"from typing import {', '.join(typing)}")
    by_module: dict[str, list[str]] = defaultdict(list)
    for name, module in sorted(homes.items()):
        if module != home and class_name(name) in words:
            by_module[module].append(class_name(name))
    shapes = (
        f"from headwater.client.shapes.{one} import {', '.join(names)}" for one, names in sorted(by_module.items())
    )
    return "\n".join([*lines, "", *further, *shapes]).strip()


def generated_files(folder: Path) -> Iterator[Path]:
    """Those that an earlier time has written."""
    return (file for file in folder.rglob("*.py") if MARK in file.read_text("utf-8"))


def main(folder: Path) -> None:
    written = client_modules(described_app().openapi())
    for file in generated_files(folder):
        file.unlink()
    for name, text in written.items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
