"""A record as a page of Markdown with front matter, under a name that every file system takes. Pure."""

import re
from datetime import datetime
from typing import Any
from unicodedata import normalize

import orjson

from headwater.blocks.markdown import markdown_of, markdown_of_line
from headwater.deliver.feeds.entries import plain_line
from headwater.deliver.records import Record
from headwater.phrases import iso_of
from headwater.record_kind import RecordKind
from headwater.rights.record import answers_in
from headwater.storable import as_laid_out

LONGEST_SLUG = 60
_ID_DIGITS = 16
_NO_WORD = re.compile(r"[^\w]+")
_BARE_WORD = re.compile(r"[a-z0-9-]+")
_SAID = {
    RecordKind.DOCUMENT: ("title", "url", "canonical_url", "author", "language", "section"),
    RecordKind.JOB: ("title", "org_name", "apply_url", "language", "location_raw", "country", "level_norm"),
}
_TIMES = {
    RecordKind.DOCUMENT: ("published_at", "updated_at", "first_seen_at", "changed_at"),
    RecordKind.JOB: ("deadline", "created_at", "updated_at"),
}
_LISTS = {RecordKind.DOCUMENT: "keywords", RecordKind.JOB: "mission_tags"}


def name_of_page(record: Record) -> str:
    """`2026-11/2026-11-18-tide-tables-0123456789abcdef.md`: its month, its day, its title, the beginning of its id."""
    at = _first_seen(record)
    parts = (f"{at:%Y-%m-%d}", slug_of(str(record.fields["title"])), record.id[:_ID_DIGITS])
    return f"{at:%Y-%m}/{'-'.join(filter(None, parts))}.md"


def slug_of(title: str) -> str:
    """Its words in plain letters; empty where there are none."""
    plain = normalize("NFKD", title[: LONGEST_SLUG * 10]).encode("ascii", "ignore").decode().lower()
    words = "-".join(_BARE_WORD.findall(_NO_WORD.sub(" ", plain).replace("_", " ")))
    return words[:LONGEST_SLUG].rstrip("-")


def page_of(record: Record) -> bytes:
    kind, said = record.key.kind, record.fields
    matter: dict[str, Any] = {"id": record.id, "version": record.version, "source": record.source.name}
    matter |= {name: said.get(name) for name in _SAID[kind]}
    matter |= {name: iso_of(value) for name in _TIMES[kind] if (value := said.get(name))}
    matter |= {"authors": list(said.get("authors") or ())}
    matter |= {"tags": list(said.get(_LISTS[kind]) or ())}
    if kind is RecordKind.DOCUMENT:
        matter |= {f"rights_{use}": answer for use, answer in answers_in(said["rights"]).items()}
        matter |= {"licences": said["rights"]["licences"]}
    front = "".join(f"{name}: {_yaml(value)}\n" for name, value in matter.items() if value not in (None, "", []))
    title = markdown_of_line(plain_line(said["title"], 1_000))
    if kind is RecordKind.DOCUMENT:
        text = as_laid_out(markdown_of(record.blocks)) or "\n"
    else:
        text = _paragraphs(as_laid_out(said["description_snippet"] or ""))
    return f"---\n{front}---\n\n# {title}\n\n{text}".encode(errors="replace")


def _paragraphs(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"{markdown_of_line(line)}\n\n" for line in lines if line).rstrip("\n") + "\n"


def _yaml(value: Any) -> str:
    """JSON on one line is YAML, as long as no control stands in it."""
    if isinstance(value, list):
        return orjson.dumps([plain_line(str(one), 1_000) for one in value]).decode()
    return orjson.dumps(plain_line(value, 10_000) if isinstance(value, str) else value).decode()


def _first_seen(record: Record) -> datetime:
    """It never changes, and so neither does the folder of the page."""
    at: datetime = record.fields["first_seen_at" if record.key.kind is RecordKind.DOCUMENT else "created_at"]
    return at
