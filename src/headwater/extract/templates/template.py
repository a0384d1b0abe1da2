"""What was learned about a host's article pages: small, comparable, and written down as plain JSON."""

from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from xxhash import xxh3_64_intdigest

from headwater.extract.templates.verdicts import Verdicts, Way

FORM = 2
MOST_REPEATED = 64
MOST_EMITTED = 128
_SAME_STORY = 0.4  # share of a text that was served before
_HASH_BYTES = 5
_HEAD, _TAIL = 6, 18


@dataclass(frozen=True, slots=True)
class Variant:
    """One way the host lays its articles out; `containers` is the most that were found on a training page."""

    selector: str
    containers: int
    verdicts: Verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """What training pages measured, see `reading.Measures`; how far a page may stray from it is the server's to say.

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
    """`repeated` are hashes of blocks seen on several pages, `emitted` of those lately served, page by page."""

    variants: tuple[Variant, ...]
    ranges: Ranges
    required: tuple[str, ...]
    places: Places
    pages: int
    repeated: tuple[int, ...] = ()
    emitted: tuple[tuple[int, ...], ...] = ()

    def after(self, hashes: Iterable[int]) -> "Template":
        """Having served these blocks of one page: what came before on another is the host's, not the story's."""
        own = tuple(dict.fromkeys(hashes))
        if not own:
            return self
        others = tuple(page for page in self.emitted if not _is_same_story(page, own))
        known = {one for page in others for one in page}
        repeated = tuple(dict.fromkeys([*self.repeated, *(one for one in own if one in known)]))[-MOST_REPEATED:]
        return replace(self, repeated=repeated, emitted=_bounded((*others, _ends(own))))


def _is_same_story(page: Collection[int], other: Collection[int]) -> bool:
    """Changed, or under another address: its paragraphs are its own and not the host's."""
    return len(set(page).intersection(other)) > _SAME_STORY * len(page)


def _bounded(pages: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """A page is forgotten as a whole: of one half forgotten, the other half would look like the host's."""
    while sum(map(len, pages)) > MOST_EMITTED:
        pages = pages[1:]
    return pages


def _ends(hashes: tuple[int, ...]) -> tuple[int, ...]:
    """What a host adds to its stories stands before and after them; a long story must not push out all others."""
    return hashes if len(hashes) <= _HEAD + _TAIL else (*hashes[:_HEAD], *hashes[-_TAIL:])


def hash_of(text: str) -> int:
    """Of a block's text, whatever its case; 40 bits keep a template small."""
    return xxh3_64_intdigest(text.casefold().encode()) >> 24


def written(template: Template) -> dict[str, Any]:
    """As JSON can hold it."""
    return {
        "form": FORM,
        "variants": [_written_variant(variant) for variant in template.variants],
        "ranges": asdict(template.ranges),
        "required": list(template.required),
        "places": list(template.places),
        "pages": template.pages,
        "repeated": _packed(template.repeated),
        "emitted": [_packed(page) for page in template.emitted],
    }


def template_from(saved: object) -> Template | None:
    """What `written` wrote; none for another form, whose host simply learns again."""
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
        emitted=tuple(_unpacked(page) for page in saved["emitted"]),
    )


def _written_variant(variant: Variant) -> dict[str, Any]:
    """Steps by number: a host writes the same few elements again and again."""
    ways = (*variant.verdicts.ways, *variant.verdicts.barren)
    steps = sorted({step for way in ways for step in way})
    number = {step: at for at, step in enumerate(steps)}

    def numbered(chosen: Iterable[Way]) -> list[str]:
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

    def ways(name: str) -> list[Way]:
        return [tuple(steps[int(at)] for at in one.split()) for one in saved[name]]

    verdicts = dict.fromkeys(ways("kept"), True) | dict.fromkeys(ways("dropped"), False)
    return Variant(saved["selector"], saved["containers"], Verdicts(verdicts, frozenset(ways("barren"))))


def _packed(hashes: Sequence[int]) -> str:
    return b64encode(b"".join(one.to_bytes(_HASH_BYTES) for one in hashes)).decode()


def _unpacked(text: str) -> tuple[int, ...]:
    raw = b64decode(text)
    return tuple(int.from_bytes(raw[at : at + _HASH_BYTES]) for at in range(0, len(raw), _HASH_BYTES))
