"""Where the pages of an API have got to, and whether there is another one."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from headwater.discover.api.recipe import ApiRecipe
from headwater.errors import UrlRejected
from headwater.urls.canonical import canonicalise

_LONGEST_CURSOR = 2_000


@dataclass(frozen=True, slots=True)
class PageState:
    """Before the page numbered `index`, counted from 0. All plain JSON: a run may be put away between pages."""

    index: int = 0
    cursor: str = ""
    seen: tuple[str, ...] = ()
    before: str = ""  # a digest of the page before


def page_state_from(stored: Mapping[str, Any]) -> PageState:
    return PageState(**{**stored, "seen": tuple(stored.get("seen", ()))})


def state_after(
    state: PageState, recipe: ApiRecipe, document: object, found: list[Any], urls: list[str]
) -> PageState | None:
    """None after the last page: empty, one too many, the same as before, or no new cursor."""
    pagination = recipe.pagination
    here = _digest("\n".join(urls))
    if pagination.type == "none" or not found or state.index + 1 >= pagination.max_pages or here == state.before:
        return None
    if pagination.type == "cursor":
        return _after_cursor(state, recipe, document, here)
    is_short = pagination.page_size is not None and len(found) < pagination.page_size
    return None if is_short and not pagination.until_empty else PageState(state.index + 1, before=here)


def _after_cursor(state: PageState, recipe: ApiRecipe, document: object, here: str) -> PageState | None:
    assert recipe.pagination.cursor_path is not None
    cursor = _as_cursor(recipe.pagination.cursor_path.find(document))
    mark = _digest(cursor)
    if not cursor or mark in state.seen or (is_url(cursor) and not _is_at_home(cursor, recipe)):
        return None
    return PageState(state.index + 1, cursor, (*state.seen, mark), here)


def _as_cursor(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    text = str(value)
    return text if len(text) <= _LONGEST_CURSOR and text.isprintable() else ""


def is_url(cursor: str) -> bool:
    return cursor.startswith(("https://", "http://"))


def _is_at_home(cursor: str, recipe: ApiRecipe) -> bool:
    """A next URL is asked with our credentials: it must lead to the same origin."""
    try:
        return canonicalise(cursor).origin == canonicalise(recipe.base_url).origin
    except UrlRejected:
        return False


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
