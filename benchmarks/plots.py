"""Plots for documents, as SVG that follows the reader's light or dark. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDE, LABELS, VALUES = 720, 210, 120
BAR, GAP, HEAD, GROUP = 18, 6, 44, 26
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-size: 15px; font-weight: 600 }
.less { fill: #57606a } .ours { fill: #0f766e } .other { fill: #b6bec7 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .less { fill: #9198a1 } .ours { fill: #2dd4bf } .other { fill: #57606a } }
"""


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    value: float
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """Groups of bars of one unit. `better` says in words which end is the good one; `told` writes a value."""

    title: str
    better: str
    groups: Sequence[tuple[str, Sequence[Bar]]]
    told: str = "{:,.1f}"
    # Bars of F1 between 0.9 and 1 would all look alike from 0 on.
    begins: float = 0.0


def drawn(plot: Plot) -> str:
    marks = list(_marks(plot))
    tall = HEAD + sum(_height(name, bars) for name, bars in plot.groups)
    size = f'viewBox="0 0 {WIDE} {tall}" width="{WIDE}" height="{tall}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
        f"<title>{escape(plot.title)}</title><style>{STYLE}</style>{''.join(marks)}</svg>\n"
    )


def _height(name: str, bars: Sequence[Bar]) -> int:
    return (GROUP if name else 0) + len(bars) * (BAR + GAP) + GAP


def _marks(plot: Plot) -> Iterator[str]:
    yield _text(0, 18, plot.title, "title")
    yield _text(0, 35, plot.better, "less")
    most = max((bar.value for _, bars in plot.groups for bar in bars), default=1.0)
    y = HEAD
    for name, bars in plot.groups:
        if name:
            yield _text(0, y + 17, name, "less")
        at = y + (GROUP if name else 0)
        for place, bar in enumerate(bars):
            yield from _bar(plot, bar, at + place * (BAR + GAP), most)
        y += _height(name, bars)


def _bar(plot: Plot, bar: Bar, y: int, most: float) -> Iterator[str]:
    share = max(0.0, bar.value - plot.begins) / ((most - plot.begins) or 1)
    long = max(1, round((WIDE - LABELS - VALUES) * share))
    yield _text(0, y + 14, bar.label)
    kind = "ours" if bar.is_ours else "other"
    yield f'<rect class="{kind}" x="{LABELS}" y="{y}" width="{long}" height="{BAR}" rx="2"/>'
    yield _text(LABELS + long + 8, y + 14, plot.told.format(bar.value))


def _text(x: int, y: int, text: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{named}>{escape(text)}</text>'
