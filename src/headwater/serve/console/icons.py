"""Signs beside words, drawn in the colour of their text. Pure."""

from collections.abc import Mapping
from functools import cache

from headwater.serve.pages.markup import Markup, element

# Strokes on a field of 16 by 16.
PATHS: Mapping[str, str] = {
    "ok": "M3.5 8.5l3 3 6-7",
    "warn": "M8 2.2L14.5 13.5h-13zM8 6.5v3.2M8 11.6v.1",
    "fail": "M4 4l8 8M12 4l-8 8",
    "paused": "M5.5 3.5v9M10.5 3.5v9",
    "blocked": "M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2zM3.9 3.9l8.2 8.2",
    "unknown": "M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2zM6.2 6.3c.2-2.2 3.6-2.2 3.6 0 0 1.5-1.8 1.5-1.8 3M8 11.4v.1",
    "out": "M6 3.5H3.5v9h9V10M9 3.5h3.5V7M12.5 3.5L7.5 8.5",
    "sun": "M8 5a3 3 0 1 0 0 6 3 3 0 1 0 0-6M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9"
    "M12.6 3.4l-.9.9M4.3 11.7l-.9.9",
    "moon": "M13 9.6A5.5 5.5 0 0 1 6.4 3a5.5 5.5 0 1 0 6.6 6.6z",
    "live": "M8 6.6a1.4 1.4 0 1 0 0 2.8 1.4 1.4 0 1 0 0-2.8M4.6 4.6a4.8 4.8 0 0 0 0 6.8M11.4 4.6a4.8 4.8 0 0 1 0 6.8",
    "search": "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 1 0 0-9M10.4 10.4l3.4 3.4",
    "up": "M8 13V3.5M4 7l4-4 4 4",
    "down": "M8 3v9.5M4 9l4 4 4-4",
    "more": "M6 3.5L10.5 8 6 12.5",
    "add": "M8 3v10M3 8h10",
    "mark": "M2 4.2c2 0 2 1.6 4 1.6s2-1.6 4-1.6 2 1.6 4 1.6M2 8.2c2 0 2 1.6 4 1.6s2-1.6 4-1.6 2 1.6 4 1.6"
    "M6 13.4c2 0 2-1.4 4-1.4s2 1.4 4 1.4",
}


@cache
def icon(name: str) -> Markup:
    """Hidden from readers of screens: the word beside it says the same."""
    box = {"viewBox": "0 0 16 16", "aria-hidden": "true"}
    return element("svg", element("path", d=PATHS[name]), class_="icon", **box)
