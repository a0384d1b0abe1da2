"""Charts as SVG made on the server. Pure.

The drawing is stretched to the room it has, so its texts stand beside it as text of the page; colours are classes of
the stylesheet, and each chart has its numbers as a table.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from math import ceil, floor, log10

from headwater.serve.console.shown import exact
from headwater.serve.pages.markup import Markup, element

MOST_POINTS = 300
# The field of a drawing; it is stretched.
WIDE, HIGH = 600, 100
DAY = timedelta(days=1)
NOTHING = Markup("")
STRETCHED = {"viewBox": f"0 0 {WIDE} {HIGH}", "preserveAspectRatio": "none", "role": "img"}


@dataclass(frozen=True, slots=True)
class ChartLine:
    """`tone` is a class of the stylesheet: ok, warn, fail, paused, or c1 to c6 where no meaning is meant."""

    name: str
    tone: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class ChartOfTime:
    """Points of one step each, from `start` on. `window` is said in words: no number stands without."""

    title: str
    window: str
    start: datetime
    step: timedelta
    lines: Sequence[ChartLine]
    told: Callable[[float], str] = "{:,.0f}".format

    @property
    def length(self) -> int:
        return min(MOST_POINTS, max((len(one.values) for one in self.lines), default=0))

    def at(self, place: int) -> datetime:
        return self.start + place * self.step


def line_chart(chart: ChartOfTime, *, has_gaps: bool = False) -> Markup:
    """Levels and delays: each line by itself. `has_gaps`: 0 says that nothing was measured, and is not drawn."""
    top = top_of(max((max(one.values[:MOST_POINTS], default=0) for one in chart.lines), default=0))
    drawn = [
        element("path", d=_path(one.values[:MOST_POINTS], top, has_gaps=has_gaps), class_=f"line {one.tone}")
        for one in chart.lines
    ]
    return _figure(chart, drawn, top)


def _path(values: Sequence[float], top: float, *, has_gaps: bool) -> str:
    """A value between gaps is a dot."""
    step, made, is_drawn = WIDE / max(len(values) - 1, 1), [], False
    for place, value in enumerate(values):
        if has_gaps and not value:
            is_drawn = False
            continue
        at = f"{_n(place * step)} {_n(HIGH - HIGH * value / top)}"
        made.append(f"L{at}" if is_drawn else f"M{at}h0")
        is_drawn = True
    return "".join(made)


def stacked_chart(chart: ChartOfTime) -> Markup:
    """Parts of a whole, one above the other."""
    length = chart.length
    layers = list(accumulate(([*one.values[:length]] for one in chart.lines), _added))
    top = top_of(max(layers[-1], default=0) if layers else 0)
    below = [[0.0] * length, *layers]
    drawn = [
        element("polygon", points=f"{_points(over, top)} {_points(under, top, back=True)}", class_=f"area {one.tone}")
        for one, over, under in zip(chart.lines, layers, below, strict=False)
    ]
    return _figure(chart, drawn, top)


def bar_chart(chart: ChartOfTime) -> Markup:
    """What happened in each step, stacked."""
    length = chart.length
    sums = [sum(one.values[place] for one in chart.lines) for place in range(length)]
    top, width = top_of(max(sums, default=0)), WIDE / max(length, 1)
    drawn = []
    for place in range(length):
        floor_ = 0.0
        for one in chart.lines:
            high = HIGH * one.values[place] / top
            if high > 0:
                drawn.append(_bar(place * width, HIGH - floor_ - high, width * 0.84, high, one.tone))
            floor_ += high
    return _figure(chart, drawn, top)


def _figure(chart: ChartOfTime, drawn: Sequence[Markup], top: float) -> Markup:
    if not chart.length or not any(any(one.values) for one in chart.lines):
        return element("div", element("p", f"Nothing in {chart.window.partition(' by ')[0]}."), class_="chart none")
    told = f"{chart.title}, {chart.window}: {', '.join(one.name for one in chart.lines)}"
    grid = [element("path", d=f"M0 {HIGH * part / 4}H{WIDE}", class_="grid") for part in range(4)]
    inside = [element("title", chart.title), element("desc", told), *grid, *drawn, *_spots(chart)]
    plot = element("svg", *inside, aria_label=told, **STRETCHED)
    # Of a scale of whole numbers the middle may be none.
    half = chart.told(top / 2)
    scale = [chart.told(top), "" if half in (chart.told(top), chart.told(0)) else half, "0"]
    return element(
        "figure",
        element("figcaption", *_legend(chart.lines), class_="legend"),
        element(
            "div",
            element("div", *(element("span", one) for one in scale), class_="scale", aria_hidden="true"),
            plot,
            class_="plot",
        ),
        element("div", *_times(chart), class_="times", aria_hidden="true"),
        _as_table(chart),
        class_="chart",
    )


def _legend(lines: Iterable[ChartLine]) -> list[Markup]:
    return [element("span", element("i", class_=f"key {one.tone}"), one.name) for one in lines]


def _spots(chart: ChartOfTime) -> list[Markup]:
    """Where the pointer rests, the numbers of that step are told."""
    width = WIDE / max(chart.length, 1)
    spots = []
    for place in range(chart.length):
        told = [f"{one.name} {chart.told(one.values[place])}" for one in chart.lines]
        title = element("title", f"{_hour(chart, place)}\n" + "\n".join(told))
        spots.append(
            element("rect", title, x=_n(place * width), y="0", width=_n(width), height=str(HIGH), class_="spot")
        )
    return spots


def _times(chart: ChartOfTime) -> list[Markup]:
    last = chart.length - 1
    places = sorted({0, last // 3, 2 * last // 3, last})
    return [element("span", _hour(chart, place)) for place in places]


def _hour(chart: ChartOfTime, place: int) -> str:
    whole = chart.length * chart.step
    return f"{chart.at(place):%H:%M}" if whole <= DAY else f"{chart.at(place):%d %b %H:%M}"


def _as_table(chart: ChartOfTime) -> Markup:
    head = [element("th", "Time (UTC)", scope="col")]
    head += [element("th", one.name, scope="col", class_="number") for one in chart.lines]
    rows = [
        element(
            "tr",
            element("th", exact(chart.at(place), f"{chart.at(place):%d %b %H:%M}"), scope="row"),
            *(element("td", chart.told(one.values[place]), class_="number") for one in chart.lines),
        )
        for place in range(chart.length)
    ]
    made = element(
        "table",
        element("caption", f"{chart.title}, {chart.window}", class_="unseen"),
        element("thead", element("tr", *head)),
        element("tbody", *rows),
    )
    framed = element(
        "div", made, class_="table-frame", tabindex="0", role="region", aria_label=f"{chart.title} in numbers"
    )
    return element("details", element("summary", "As a table"), framed, class_="numbers")


def _points(values: Sequence[float], top: float, *, back: bool = False) -> str:
    step = WIDE / max(len(values) - 1, 1)
    made = [f"{_n(place * step)},{_n(HIGH - HIGH * value / top)}" for place, value in enumerate(values)]
    return " ".join(reversed(made) if back else made)


def _added(below: Sequence[float], more: Sequence[float]) -> list[float]:
    return [one + other for one, other in zip(below, more, strict=True)]


def _bar(x: float, y: float, width: float, height: float, tone: str) -> Markup:
    return element("rect", x=_n(x), y=_n(y), width=_n(width), height=_n(height), class_=f"bar {tone}")


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def top_of(most: float) -> float:
    """The end of a scale: a round number that is not below the largest value."""
    if most <= 0:
        return 1.0
    size = 10.0 ** floor(log10(most))
    return next((size * step for step in (1, 2, 2.5, 4, 5, 8, 10) if size * step >= most), ceil(most))


def sparkline(values: Sequence[float], told: str) -> Markup:
    """A small one inside of a line of text or a table. `told` says what it shows."""
    shown = values[-MOST_POINTS:]
    top, width = max(shown, default=0) or 1, 100 / max(len(shown), 1)
    bars = [
        _bar(place * width, 20 - 20 * value / top, width * 0.8, 20 * value / top, "")
        for place, value in enumerate(shown)
        if value > 0
    ]
    box = {"viewBox": "0 0 100 20", "preserveAspectRatio": "none", "role": "img"}
    base = element("path", d="M0 19.5H100", class_="grid")
    return element("svg", element("title", told), base, *bars, class_="sparkline", aria_label=told, **box)


def heat_row(cells: Sequence[tuple[str, str]], told: str) -> Markup:
    """Cells beside each other, each with a class and what the pointer is told: one row of a heatmap."""
    shown = cells[-MOST_POINTS:]
    width = WIDE / max(len(shown), 1)
    made = [
        element(
            "rect",
            element("title", title),
            x=_n(place * width),
            y="0",
            width=_n(width - 1.5),
            height="20",
            class_=f"cell {tone}",
        )
        for place, (tone, title) in enumerate(shown)
    ]
    box = {"viewBox": f"0 0 {WIDE} 20", "preserveAspectRatio": "none", "role": "img"}
    return element("svg", *made, class_="heat", aria_label=told, **box)


def share_bar(parts: Sequence[tuple[str, float]], most: float, told: str) -> Markup:
    """Parts of one bar, each with its class; `most` is the longest bar of the list."""
    begun, made = 0.0, []
    for tone, value in parts:
        made.append(_bar(begun, 0, 100 * value / (most or 1), 8, tone))
        begun += 100 * value / (most or 1)
    box = {"viewBox": "0 0 100 8", "preserveAspectRatio": "none", "role": "img"}
    return element("svg", element("title", told), *made, class_="share", aria_label=told, **box)


def legend(tones: Mapping[str, str]) -> Markup:
    """Names by their classes, for heatmaps and bars."""
    return element(
        "p",
        *(element("span", element("i", class_=f"key {tone}"), name) for tone, name in tones.items()),
        class_="legend",
    )


def week_map(hours: Sequence[Sequence[int]], told: str) -> Markup:
    """Seven days by 24 hours, Monday first: the more, the stronger."""
    most = max((max(day, default=0) for day in hours), default=0)
    names = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    rows = [
        element(
            "tr",
            element("th", name, scope="row"),
            element(
                "td",
                heat_row(
                    [(strength(value, most), f"{name} {hour:02d}:00, {value:,}") for hour, value in enumerate(day)],
                    f"{name}: {sum(day):,} in all",
                ),
            ),
        )
        for name, day in zip(names, hours, strict=True)
    ]
    return element("table", element("caption", told, class_="unseen"), element("tbody", *rows), class_="heatmap")


def strength(value: float, most: float) -> str:
    """One of five classes, h0 for nothing."""
    return f"h{ceil(4 * value / most)}" if value > 0 and most > 0 else "h0"
