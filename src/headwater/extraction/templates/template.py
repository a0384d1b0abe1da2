"""The template of a host's article pages, as it was learned: small, comparable, and written down as plain JSON."""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from xxhash import xxh3_64_intdigest

from headwater.extraction.templates.verdicts import ElementPath, Verdicts

FORM = 4
MOST_REPEATED = 64
MOST_DOUBTED = 128
MOST_HOUSE_NAMES = 8
_MOST_OF_A_PAGE = 24
_HASH_BYTES = 5
_NUMBERS = 1 << 8 * _HASH_BYTES


@dataclass(frozen=True, slots=True)
class Variant:
    """One way the host lays its articles out; `containers` is the most that were found on a training page."""

    selector: str
    containers: int
    verdicts: Verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """The measures of training pages, see `reading.Measures`; how far a page may stray from it is the server's to say.

    `outside`, `announced`, `teasers`, `copied` and `hosted` are those of a usual page: one odd page must not excuse the
    next.
    """

    shortest: int
    longest: int
    least_kept: float
    most_linked: float
    most_linked_around: float
    outside: int
    shortest_blocks: float
    announced: float
    teasers: float
    copied: float
    least_named: float
    hosted: float = 0.0


class Places(NamedTuple):
    """Where each fact stands, see `facts.value_at`; empty where no place proved right."""

    title: str = ""
    author: str = ""
    published: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """`repeated` are hashes of blocks that the host says, not its stories. `doubted` are those of pages audited lately
    that only the template kept, each page's after its own number. `house_names` stand as author on nearly every page.
    """

    variants: tuple[Variant, ...]
    ranges: Ranges
    required: tuple[str, ...]
    places: Places
    pages: int
    repeated: tuple[int, ...] = ()
    doubted: tuple[tuple[int, ...], ...] = ()
    house_names: tuple[str, ...] = ()

    def after(self, page: int, hashes: Iterable[int]) -> "Template":
        """Having been audited on a page: what only the template kept, on two pages, is the host's, not the story's."""
        # A page may have taken over the child that sent these.
        own = tuple(dict.fromkeys(one for one in hashes if 0 <= one < _NUMBERS))[-_MOST_OF_A_PAGE:]
        if not own:
            return self
        others = tuple(one for one in self.doubted if one[:1] != (page,))
        known = {one for other in others for one in other[1:]}
        repeated = tuple(dict.fromkeys([*self.repeated, *(one for one in own if one in known)]))[-MOST_REPEATED:]
        return replace(self, repeated=repeated, doubted=_bounded((*others, (page, *own))))


def _bounded(pages: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    while sum(map(len, pages)) > MOST_DOUBTED:
        pages = pages[1:]
    return pages


def hash_of(text: str) -> int:
    """Of a block's text, whatever its case; 40 bits keep a template small."""
    return xxh3_64_intdigest(text.casefold().encode()) >> 24


def number_of(page: bytes) -> int:
    """Of the hash of a page's address."""
    return int.from_bytes(page[:_HASH_BYTES])


def template_to_json(template: Template) -> dict[str, Any]:
    """As JSON can hold it."""
    return {
        "form": FORM,
        "variants": [_written_variant(variant) for variant in template.variants],
        "ranges": asdict(template.ranges),
        "required": list(template.required),
        "places": list(template.places),
        "pages": template.pages,
        "repeated": _packed(template.repeated),
        "doubted": [_packed(page) for page in template.doubted],
        "house_names": list(template.house_names),
    }


def template_from(saved: object) -> Template | None:
    """The template that `template_to_json` wrote; none for another form, whose host simply learns again."""
    if not isinstance(saved, Mapping) or saved.get("form") != FORM:
        return None
    try:
        return _template_from(saved)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def _template_from(saved: Mapping[str, Any]) -> Template:
    return Template(
        variants=tuple(_variant_from(one) for one in saved["variants"]),
        ranges=Ranges(**saved["ranges"]),
        required=tuple(saved["required"]),
        places=Places(*saved["places"]),
        pages=saved["pages"],
        repeated=_unpacked(saved["repeated"]),
        doubted=tuple(_unpacked(page) for page in saved["doubted"]),
        # Templates of before have none.
        house_names=tuple(str(name) for name in saved.get("house_names", ()))[:MOST_HOUSE_NAMES],
    )


def _written_variant(variant: Variant) -> dict[str, Any]:
    """Steps by number: a host writes the same few elements again and again."""
    ways = (*variant.verdicts.ways, *variant.verdicts.barren)
    steps = sorted({step for way in ways for step in way})
    number = {step: at for at, step in enumerate(steps)}

    def numbered(chosen: Iterable[ElementPath]) -> list[str]:
        return [" ".join(str(number[step]) for step in way) for way in sorted(chosen)]

    return {
        "selector": variant.selector,
        "containers": variant.containers,
        "steps": steps,
        "kept": numbered(way for way, keep in variant.verdicts.ways.items() if keep),
        "dropped": numbered(way for way, keep in variant.verdicts.ways.items() if not keep),
        "barren": numbered(variant.verdicts.barren),
    }


def _variant_from(saved: Mapping[str, Any]) -> Variant:
    steps: Sequence[str] = saved["steps"]

    def ways(name: str) -> list[ElementPath]:
        return [tuple(steps[int(at)] for at in one.split()) for one in saved[name]]

    verdicts = dict.fromkeys(ways("kept"), True) | dict.fromkeys(ways("dropped"), False)
    return Variant(saved["selector"], saved["containers"], Verdicts(verdicts, frozenset(ways("barren"))))


def _packed(hashes: Sequence[int]) -> str:
    return b64encode(b"".join(one.to_bytes(_HASH_BYTES) for one in hashes)).decode()


def _unpacked(text: str) -> tuple[int, ...]:
    raw = b64decode(text)
    return tuple(int.from_bytes(raw[at : at + _HASH_BYTES]) for at in range(0, len(raw), _HASH_BYTES))
