"""Recipes and instructions in linked data."""

import json

import pytest
from tests.unit.extraction.conftest import Read

from headwater.extraction.article import Article
from headwater.extraction.body import Producer
from headwater.extraction.linked_steps import text_of_steps

LONG = "Take the rope into the left hand, lay it around the post twice and pull until nothing gives way any more. "
STEP = {"@type": "HowToStep", "name": "The second knot", "text": "Turn it over and do the same again."}


@pytest.mark.parametrize(
    "steps",
    [
        ["Tie it.", "Turn it over and do the same again."],
        [{"@type": "HowToStep", "text": "Tie it."}, STEP],
        [{"@type": "HowToSection", "name": "Both", "itemListElement": [{"text": "Tie it."}, STEP]}],
        [{"itemListElement": {"@type": "HowToDirection", "text": "Tie it."}}, STEP],
    ],
    ids=["strings", "steps", "section", "directions"],
)
def test_steps_are_read_however_they_are_nested(steps: object) -> None:
    found = text_of_steps({"recipeInstructions": steps, "recipeIngredient": ["1 rope"], "description": "Two knots."})
    assert found.startswith("<p>Two knots.</p><p>1 rope</p>")
    assert found.index("Tie it.") < found.index("Turn it over")


@pytest.mark.parametrize("steps", [None, [], {}, 5, [[[[]]]], [{"text": 5}]])
def test_where_there_are_no_steps_nothing_is_said(steps: object) -> None:
    assert text_of_steps({"step": steps, "description": "Two knots."}) == ""


def test_steps_without_end_are_bounded() -> None:
    node: dict[str, object] = {"text": "Again."}
    for _ in range(10_000):
        node = {"step": [node, node]}
    assert text_of_steps({"step": node}) == ""


def how_to(count: int) -> str:
    one = {"@type": "HowTo", "name": "Two knots", "step": [{"text": LONG * 2}, STEP]}
    return "".join(f'<script type="application/ld+json">{json.dumps(one)}</script>' for _ in range(count))


def test_instructions_that_the_page_does_not_show_are_its_text(read: Read) -> None:
    found = read(f"<title>Two knots</title>{how_to(1)}", "<h1>Two knots</h1><div id=app>Loading</div>")
    assert isinstance(found, Article)
    assert found.produced_by == Producer.STRUCTURED
    assert "The second knot\nTurn it over" in found.text
    # Of several none is the page.
    assert not isinstance(read(how_to(2), "<h1>Two knots</h1>"), Article)
