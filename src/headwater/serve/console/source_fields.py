"""The fields of a source in forms: how each is called, asked for and explained, and which of them cannot be read. Pure.

How a field is written and read is said once, in `headwater.sources.exchange.fields`; forms send what a file would hold.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from headwater.editions import edition_of
from headwater.serve.console.forms import FormFields, choice_field, text_area, text_field
from headwater.serve.console.shown import UNSHOWN
from headwater.serve.console.source_list import KINDS, MODES
from headwater.serve.pages.markup import Markup
from headwater.sources.exchange.fields import FIELDS, Row, value_as_text
from headwater.sources.source import Policy

LONGEST_SAID = 20_000
LONGEST_MARKS = 4_000


@dataclass(frozen=True, slots=True)
class FieldShown:
    """`rows`: of a field of several lines; `choices`: where only some values can be."""

    label: str
    hint: str = ""
    rows: int = 0
    choices: Sequence[tuple[str, str]] = ()


def _of(words: Iterable[str], none: str) -> tuple[tuple[str, str], ...]:
    return (("", none), *((one, one) for one in words))


SHOWN: Mapping[str, FieldShown] = {
    "name": FieldShown("Name", "Of the organisation. Empty: its host."),
    "kind": FieldShown("Type", choices=tuple((one, one) for one in KINDS)),
    "org_type": FieldShown("Organisation type", "Such as ngo or newspaper."),
    "tags": FieldShown("Tags", "Commas between them."),
    "country": FieldShown("Country", "Such as FR."),
    "external_ids": FieldShown("Ids in other systems", "Another id is added to those it has."),
    "feed_url": FieldShown("Feed", "Another one takes the place of this one. Empty: no feed is polled."),
    "sitemap_url": FieldShown("Sitemap"),
    "more_sitemaps": FieldShown("More sitemaps", "One a line.", rows=2),
    "ingestion_mode": FieldShown(
        "Mode", "Whether its feeds are polled, its pages looked through, or both.", choices=_of(MODES, "what it has")
    ),
    "interval": FieldShown("Interval", "Such as 15m, 6h or 1d. Empty: its rhythm is learned."),
    "crawl_frequency_days": FieldShown("Crawl every so many days", "0.04 to 365; for the policy frequency."),
    "policy": FieldShown("Policy", "How the interval follows what comes.", choices=_of(map(str, Policy), "the usual")),
    "time_window": FieldShown("Time window", "Such as 22:00-05:00, in its time zone."),
    "timezone": FieldShown("Time zone", "Such as Europe/Paris. Empty: UTC."),
    "revisit_every": FieldShown("Read pages again after", "Such as 24h,7d: one after the other."),
    "priority": FieldShown("Priority", "1 to 10; 5 is usual."),
    "rate_limit": FieldShown("Time between requests", "Such as 2s. Never quicker than robots.txt allows."),
    "start_urls": FieldShown("Start pages", "One a line.", rows=2),
    "max_depth": FieldShown("Depth", "How far links are followed; -1 is without limit."),
    "max_pages": FieldShown("Most pages", "Of one crawl."),
    "allowed_domains": FieldShown("Further domains", "One a line, such as example.org.", rows=2),
    "include_paths": FieldShown("Only below", "One path a line, such as /news.", rows=2),
    "exclude_paths": FieldShown("Never below", "One path a line.", rows=2),
    "allow_external": FieldShown("Links to other sites", choices=(("", "are not followed"), ("yes", "are followed"))),
    "article_patterns": FieldShown("Addresses of articles", "One pattern a line.", rows=2),
    "speaks_for": FieldShown("Speaks for", "Hosts of which its word counts, one a line.", rows=2),
    "parser_hint": FieldShown("Parser hint", "A CSS selector, or the recipe of an API as JSON.", rows=3),
    "selectors": FieldShown("Selectors", 'A JSON object, such as {"article": {"title": "h1"}}.', rows=5),
    "skips_tdmrep": FieldShown(
        "Rights in tdmrep.json", choices=(("", "are asked for"), ("yes", "are never asked for")), hint="Of its origins."
    ),
    "render_mode": FieldShown(
        "Its pages", choices=(("", "are read as they come"), ("dynamic", "are rendered in a browser"))
    ),
}
GROUPS: Mapping[str, Sequence[str]] = {
    "Who it is": ("name", "kind", "org_type", "tags", "country", "external_ids"),
    "Where it is read": ("feed_url", "sitemap_url", "more_sitemaps", "ingestion_mode", "start_urls"),
    "When it is read": (
        *("interval", "policy", "crawl_frequency_days", "time_window", "timezone", "revisit_every"),
        *("priority", "rate_limit"),
    ),
    "Which pages": (
        *("max_depth", "max_pages", "allow_external", "include_paths", "exclude_paths", "allowed_domains"),
        *("article_patterns", "speaks_for"),
    ),
    "How pages are read": ("parser_hint", "selectors", "render_mode", "skips_tdmrep"),
}
EDITED = tuple(name for names in GROUPS.values() for name in names)
# Of a source that is added: what is rarely wanted at once.
ADVANCED = (
    *("interval", "priority", "time_window", "timezone", "crawl_frequency_days", "policy"),
    *("org_type", "tags", "country", "parser_hint", "selectors"),
)
_READERS: Mapping[str, Callable[[str], object]] = {one.name: one.read for one in FIELDS}
# Of selects, where an empty choice has a word of its own in what is stored.
_SPELT = {"True": "yes", "False": "", "static": ""}


def field_of(name: str, values: Mapping[str, str], wrong: Mapping[str, str]) -> Markup:
    shown, value, error = SHOWN[name], as_typed(values.get(name, "")), wrong.get(name, "")
    if shown.choices:
        return choice_field(name, shown.label, shown.choices, value, hint=shown.hint, error=error)
    if shown.rows:
        return text_area(name, shown.label, value, hint=shown.hint, error=error, rows=shown.rows)
    return text_field(name, shown.label, value, hint=shown.hint, error=error)


def as_typed(text: str) -> str:
    """A text in a field, without signs that nobody sees there; lines and tabs stay."""
    return "\n".join("\t".join(UNSHOWN.sub("", part) for part in line.split("\t")) for line in text.split("\n"))


def values_of(row: Row) -> dict[str, str]:
    """As a form shows them: lists line by line where that can be read again."""
    return {one.name: _shown(one.name, getattr(row, one.name)) for one in FIELDS if one.name in SHOWN}


def _shown(name: str, value: object) -> str:
    known = next(one for one in FIELDS if one.name == name)
    if isinstance(value, tuple) and known.is_json and not any(set(one) & {" ", "\t", "[", '"'} for one in value):
        return "\n".join(value)
    if isinstance(value, dict) and value:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    text = value_as_text(known, value)
    return _SPELT.get(text, text)


def said_in(fields: FormFields, names: Iterable[str]) -> dict[str, str]:
    """What a form said, of these. A radio button for none of them says `-`."""
    said = {name: fields.get(name)[:LONGEST_SAID] for name in names if fields.has(name)}
    return {name: "" if value == "-" else value for name, value in said.items()}


def changed_in(said: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """What differs from the values that a form showed, however it is spelt."""
    return {name: text for name, text in said.items() if _meant(name, text) != _meant(name, values.get(name, ""))}


def marks_of(values: Mapping[str, str]) -> str:
    """Of each field that is edited a short mark of its value, for a form to send back: what it was made from."""
    return ",".join(f"{name}:{_mark(name, values.get(name, ''))}" for name in EDITED)


def newer_than(marks: str, values: Mapping[str, str]) -> list[str]:
    """Fields whose value is no more the one that a form was made from; nothing where it does not say."""
    seen = _marks_in(marks)
    return [name for name in EDITED if name in seen and seen[name] != _mark(name, values.get(name, ""))]


def typed_since(marks: str, said: Mapping[str, str]) -> dict[str, str]:
    """Of what a form said, the values that a person changed in it."""
    seen = _marks_in(marks)
    return {name: text for name, text in said.items() if seen.get(name) != _mark(name, text)}


def _marks_in(text: str) -> dict[str, str]:
    pairs = (one.partition(":") for one in text[:LONGEST_MARKS].split(","))
    return {name: mark for name, _, mark in pairs if name in SHOWN}


def _mark(name: str, text: str) -> str:
    return edition_of(_meant(name, text))[:8]


def _meant(name: str, text: str) -> object:
    """As it is read; as it stands where it cannot be."""
    plain = "\n".join(line.strip() for line in as_typed(text).strip().split("\n"))
    try:
        return _READERS[name](plain) if plain else ""
    except ValueError:
        return plain


def problems_by_field(said: Mapping[str, str]) -> dict[str, str]:
    """Beside each field that cannot be read, the end of a sentence about it."""
    found: dict[str, str] = {}
    for name, text in said.items():
        reader = _READERS.get(name)
        try:
            if reader and text:
                reader(text)
        except ValueError as error:
            found[name] = str(error)
    return found
