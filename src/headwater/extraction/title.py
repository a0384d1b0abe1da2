"""Which of a page's many titles is the article's."""

import re
from collections.abc import Iterable

from headwater.extraction.text import comparable

_SEPARATORS = re.compile(r"\s+[|–—·•»«›:-]\s+|\s*[|»«]\s*|:\s+")
_SHORTEST_HEADLINE_WORDS = 3
_LONGEST_SITE_NAME_WORDS = 4


def headline_in(page_title: str, heading: str, site_names: Iterable[str]) -> str:
    """A <title> without the site's name: whichever end it stands at, and whatever stands between."""
    parts = _SEPARATORS.split(page_title)
    if heading and comparable(heading) != comparable(page_title) and _is_part(heading, page_title):
        return heading
    plain = without_site_name(page_title, site_names)
    return _without_likely_name(page_title, parts) if plain == page_title else plain


def without_site_name(title: str, site_names: Iterable[str]) -> str:
    """Without a name the page gives its site, at whichever end; only that name, so a headline loses nothing."""
    known = {comparable(name) for name in site_names if name}
    parts = _SEPARATORS.split(title)
    if len(parts) > 1 and comparable(parts[-1]) in known:
        return _trimmed(title.removesuffix(parts[-1]))
    if len(parts) > 1 and comparable(parts[0]) in known:
        return _trimmed(title.removeprefix(parts[0]))
    return title


def _is_part(heading: str, title: str) -> bool:
    """Whole words at either end of the title."""
    inner, outer = comparable(heading), comparable(title)
    return bool(inner) and (outer.startswith(f"{inner} ") or outer.endswith(f" {inner}"))


def _without_likely_name(title: str, parts: list[str]) -> str:
    """An unknown last part, if it is short enough to be a name and leaves enough to be a headline."""
    kept = _trimmed(title.removesuffix(parts[-1]))
    is_likely = len(parts[-1].split()) <= _LONGEST_SITE_NAME_WORDS and not title.endswith(f": {parts[-1]}")
    return kept if is_likely and len(kept.split()) >= _SHORTEST_HEADLINE_WORDS else title


def _trimmed(title: str) -> str:
    return title.strip(" \t|–—·•»«›:-")
