"""From an API's answer to items and to the next page."""

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import orjson

from headwater.discover.api.pages import PageState, state_after
from headwater.discover.api.paths import Path
from headwater.discover.api.recipe import ApiRecipe, Transform, auto_data_paths
from headwater.discover.feeds.dates import EARLIEST, FURTHEST_AHEAD, moment
from headwater.discover.items import Item, Reading, Unreadable
from headwater.discover.pages.listing import link_to, shorten

# The year 5138 in seconds, 1973 in milliseconds: nobody means both.
_MILLISECONDS_FROM = 100_000_000_000
_DIGITS_OF_EPOCHS = range(9, 14)

LONGEST_BODY = 50_000_000

MOST_ITEMS = 10_000
_DEEPEST_FIELD = 20
# What JSON's writers and PostgreSQL's readers agree on.
_BITS = 63
_FIRST_PAGE = PageState()

# Of several names for one thing the first that is mapped is it; the others are fields.
_NAMES = {
    "url": ("url", "apply_url", "link", "href"),
    "title": ("title",),
    "published_at": ("published_at", "posted_at"),
    "updated_at": ("updated_at",),
    "guid": ("guid", "id"),
    "author": ("author",),
    "summary": ("summary", "description", "description_snippet"),
    "content": ("content",),
    "language": ("language",),
}


def instant_from(value: object, now: datetime) -> datetime | None:
    """None for a value that is no instant or cannot be meant; one that lies a little ahead counts as now."""
    match value:
        case bool():
            return None
        case str() if value.isascii() and value.isdigit() and len(value) in _DIGITS_OF_EPOCHS:
            return _counted(int(value), now)
        case str():
            return moment(value, now)
        case int() | float():
            return _counted(value, now)
        case _:
            return None


def _counted(number: float, now: datetime) -> datetime | None:
    with suppress(ValueError, OverflowError, OSError):
        found = datetime.fromtimestamp(number / 1000 if number >= _MILLISECONDS_FROM else number, UTC)
        return min(found, now) if EARLIEST <= found <= now + FURTHEST_AHEAD else None
    return None


class _Twice(ValueError):
    pass


def json_in(body: bytes) -> Any | Unreadable:
    if len(body) > LONGEST_BODY:
        return Unreadable("The answer is too large to be read as JSON.")
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        # The strict and fast one first: it refuses NaN, numbers beyond a double, bad UTF-8 and 1,024 levels.
        orjson.loads(body)
        return json.loads(body, object_pairs_hook=_once)
    except _Twice:
        return Unreadable("The answer's JSON names a key twice in one object.")
    except RecursionError:
        return Unreadable("The answer's JSON is nested too deeply.")
    except orjson.JSONDecodeError as refusal:
        return Unreadable(_why(body, refusal))
    except ValueError:
        return Unreadable("The answer is not valid JSON.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice
    return found


def _why(body: bytes, refusal: orjson.JSONDecodeError) -> str:
    if not body.strip():
        return "The answer is empty."
    if body.lstrip()[:1] == b"<":
        return "The answer is a page or a feed, not JSON."
    return f"The answer is not valid JSON: {refusal.msg[:120]}."


@dataclass(frozen=True, slots=True)
class ApiPage:
    """`next` is None after the last page."""

    reading: Reading
    next: PageState | None = None


def read_api(
    body: bytes, recipe: ApiRecipe, base_url: str, now: datetime, state: PageState = _FIRST_PAGE
) -> ApiPage | Unreadable:
    document = json_in(body)
    if isinstance(document, Unreadable):
        return document
    found = _list_in(document, recipe, state)
    if isinstance(found, Unreadable):
        return found
    read = [_item(one, recipe, base_url, now) for one in found[:MOST_ITEMS]]
    items = tuple(item for item in read if item)
    cut = f"Only the first {MOST_ITEMS:,} of {len(found):,} items were read." if len(found) > MOST_ITEMS else ""
    dropped = len(read) - len(items)
    notes = tuple(filter(None, (cut, f"{dropped:,} items had no usable URL." if dropped else "")))
    following = state_after(state, recipe, document, found, [item.url for item in items])
    pagination = recipe.pagination
    is_last_allowed = pagination.type != "none" and bool(found) and state.index + 1 >= pagination.max_pages
    return ApiPage(Reading(items, notes=notes, damage=cut, is_partial=is_last_allowed or bool(cut)), following)


def _list_in(document: object, recipe: ApiRecipe, state: PageState) -> list[Any] | Unreadable:
    if recipe.data_path is None:
        return _usual_list(document)
    found = recipe.data_path.find(document)
    if isinstance(found, list):
        return found
    if found is None and state.index > 0:
        return []
    what = "nothing" if found is None else "no list"
    return Unreadable(f"There is {what} at {recipe.data_path.text} in the answer.")


def _usual_list(document: object) -> list[Any] | Unreadable:
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        return Unreadable("The answer is neither a JSON object nor a list.")
    lists = (found for path in _usual_paths() if isinstance(found := path.find(document), list))
    nothing = Unreadable("No list was found under the usual names; say where it is with data_path.")
    return next(lists, nothing)


@cache
def _usual_paths() -> tuple[Path, ...]:
    return auto_data_paths()


def _item(raw: object, recipe: ApiRecipe, base_url: str, now: datetime) -> Item | None:
    values = {name: _transformed(path.find(raw), recipe.transforms.get(name)) for name, path in recipe.map.items()}
    known = {part: values.pop(_name_of(part, recipe), None) for part in _NAMES}
    # Its NUL stays and refuses it: without, it would lead to somewhere else than what was written.
    address = _written(known["url"]).strip()
    place = link_to(address, base_url) if address else None
    if place is None:
        return None
    return Item(
        place.url,
        title=shorten(_text(known["title"])),
        published_at=instant_from(known["published_at"], now),
        updated_at=instant_from(known["updated_at"], now),
        guid=_text(known["guid"]),
        author=shorten(_text(known["author"])),
        summary=_text(known["summary"]),
        content=_text(known["content"]),
        language=_text(known["language"])[:35],
        fields={name: _plain(value) for name, value in values.items() if value is not None},
    )


def _name_of(part: str, recipe: ApiRecipe) -> str:
    return next((name for name in _NAMES[part] if name in recipe.map), part)


def _transformed(value: Any, transform: Transform | None) -> Any:
    if transform is None or not isinstance(value, list):
        return value
    if transform.join is not None:
        return transform.join.join(filter(None, map(_text, value)))
    return value[0] if transform.first and value else value


def _text(value: object) -> str:
    return _written(value).replace("\x00", "")


def _written(value: object) -> str:
    match value:
        case bool() | None:
            return ""
        case str():
            return value
        case int() | float():
            return str(value)
        case [first, *_]:
            return _written(first) if not isinstance(first, list) else ""
        case _:
            return ""


def _plain(value: Any, depth: int = _DEEPEST_FIELD) -> Any:
    """Without what PostgreSQL cannot store, and cut off where no one would look for it."""
    if isinstance(value, str):
        return value.replace("\x00", "")
    if isinstance(value, int) and value.bit_length() > _BITS:
        return float(value)
    if not isinstance(value, dict | list):
        return value
    if depth == 0:
        return None
    if isinstance(value, list):
        return [_plain(one, depth - 1) for one in value]
    return {key.replace("\x00", ""): _plain(one, depth - 1) for key, one in value.items()}
