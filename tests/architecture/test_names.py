"""One name is one thing: a class or a type found by its name is the one that was meant."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from tests.architecture.modules import MODULES, SOURCE, nodes_of

# The simulated web plays the outside world and has words of its own; nothing of ours imports it. The client has the
# names of the API's shapes, and nothing of ours imports that either.
OUTSIDE = ("simweb/", "client/")
# Types of parameters: commands and routes take the same options under the same names.
FRONT_ENDS = ("cli/", "serve/")
# As types are written, and no constant.
TYPE_NAME = re.compile(r"_?[A-Z]\w*[a-z]\w*")


def places_of_types() -> dict[str, list[str]]:
    """A private name and a public one of the same letters are the same word to a reader."""
    places: dict[str, list[str]] = defaultdict(list)
    for module in MODULES:
        name = module.relative_to(SOURCE).as_posix()
        if not name.startswith(OUTSIDE):
            for node in nodes_of(module):
                if name.startswith(FRONT_ENDS) and not isinstance(node, ast.ClassDef):
                    continue
                for found in names_in(node):
                    places[found.removeprefix("_")].append(name)
    return places


def names_in(node: ast.AST) -> Iterator[str]:
    """Of a class, of another name for a type, of a variable for types."""
    match node:
        case ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            if TYPE_NAME.fullmatch(name):
                yield name


def test_no_two_types_have_one_name() -> None:
    places = places_of_types()
    assert len(places) > 500
    assert not {name: where for name, where in places.items() if len(where) > 1}
