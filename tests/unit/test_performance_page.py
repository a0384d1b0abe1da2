"""The page of figures: drawn from what runs printed, kept in it, and written again the same."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from benchmarks.performance import PAGE, PICTURES, SECTIONS, kept_figures, page_of
from benchmarks.plots import Bar, Plot, drawn

SVG = "{http://www.w3.org/2000/svg}"
PLOT = Plot("Sizes & <shapes>", "longer is better", [("first", [Bar("ours", 40, is_ours=True), Bar("theirs", 10)])])


def bars_of(plot: Plot) -> list[int]:
    return [int(one.attrib["width"]) for one in ET.fromstring(drawn(plot)).iter(f"{SVG}rect")]


def test_bars_are_as_long_as_their_values() -> None:
    ours, theirs = bars_of(PLOT)
    assert ours == pytest.approx(4 * theirs, abs=2)


def test_a_plot_says_its_values_and_escapes_its_words() -> None:
    texts = [one.text for one in ET.fromstring(drawn(PLOT)).iter(f"{SVG}text")]
    assert {"Sizes & <shapes>", "longer is better", "first", "ours", "40.0"} <= set(texts)


def test_nothing_but_zeros_can_be_drawn() -> None:
    assert bars_of(Plot("none", "", [("", [Bar("a", 0.0), Bar("b", 0.0)])])) == [1, 1]


def test_the_page_is_what_its_own_figures_give() -> None:
    page = PAGE.read_text()
    kept = kept_figures(page)
    assert kept
    assert page_of(kept) == page


def test_every_plot_of_the_page_is_the_drawing_of_its_figures() -> None:
    kept = kept_figures(PAGE.read_text())
    for section in SECTIONS:
        for name, plot in section.plots(kept[section.name]).items() if section.name in kept else ():
            assert Path(PICTURES / f"performance-{name}.svg").read_text() == drawn(plot)
