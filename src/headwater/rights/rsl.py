"""RSL 1.0 terms, as feeds carry them in its namespace: what a licence permits and prohibits."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from headwater.rights.record import Convention, PageUse, StatedIn, UseStatement, statement, statement_from

NAMESPACE = "https://rslstandard.org/rsl"
# Under which an entry of a feed keeps its statements.
RIGHTS_FIELD = "rsl:statements"
_MOST_ELEMENTS = 50
_LONGEST_TERMS = 1_000
_USES = {
    "all": tuple(PageUse),
    "ai-all": (PageUse.TRAIN, PageUse.INPUT, PageUse.IMAGES),
    "ai-train": (PageUse.TRAIN,),
    "ai-input": (PageUse.INPUT,),
    "ai-index": (PageUse.INPUT,),
    "search": (PageUse.SEARCH,),
    "tdm": (PageUse.TDM,),
}


def rsl_statements(children: Iterable[Any]) -> list[UseStatement]:
    """Of the elements of an entry, or of a whole feed, that are in RSL's namespace."""
    found = (child for child in children if _name(child) in ("content", "license", "rsl"))
    return [told for _, child in zip(range(_MOST_ELEMENTS), found, strict=False) if (told := _statement(child))]


def statements_in_feed(stored: object) -> tuple[UseStatement, ...]:
    """As they were kept with an entry; of what has another form, nothing: a mapped API may have named it so."""
    told = list[UseStatement]()
    for one in stored[:_MOST_ELEMENTS] if isinstance(stored, list) else []:
        with suppress(KeyError, TypeError, ValueError):
            told.append(statement_from(one))
    return tuple(one for one in told if one.place is StatedIn.FEED)


def _statement(element: Any) -> UseStatement | None:
    licence = element.get("url") or ""
    allowed, refused = list[PageUse](), list[PageUse]()
    words = list[str]()
    for name, text in _terms(element):
        uses = [use for word in text.replace(",", " ").split() for use in _USES.get(word.lower(), ())]
        (allowed if name == "permits" else refused).extend(uses)
        words.append(f"{name}: {text}")
    server = element.get("server") or ""
    # A licence with a price or a server of its own permits nothing by itself.
    free = allowed if not server and not _costs(element) else []
    told = statement(
        Convention.RSL,
        StatedIn.FEED,
        "; ".join(filter(None, (*words, licence))),
        allowed=free,
        refused=refused,
        licence=licence,
    )
    return told if told.said else None


def _terms(element: Any) -> Iterator[tuple[str, str]]:
    for _, inner in zip(range(_MOST_ELEMENTS), element.iter(), strict=False):
        name = _name(inner)
        if name in ("permits", "prohibits") and (inner.get("type") or "usage") == "usage":
            yield name, (inner.text or "")[:_LONGEST_TERMS].strip()


def _costs(element: Any) -> bool:
    inner = [one for _, one in zip(range(_MOST_ELEMENTS), element.iter(), strict=False)]
    payments = (one.get("type") or "free" for one in inner if _name(one) == "payment")
    return any(kind not in ("free", "attribution") for kind in payments)


def _name(element: Any) -> str:
    """The name of an element in RSL's namespace; empty for all others."""
    tag = element.tag
    if not isinstance(tag, str) or not tag.startswith("{"):
        return ""
    space, _, name = tag[1:].partition("}")
    return name.lower() if space.rstrip("/") == NAMESPACE else ""
