"""Looks at sites and channels that stored nothing: answers, items, pages."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from headwater.storable import one_line

if TYPE_CHECKING:
    from headwater.actions.sources import Added
    from headwater.actions.trying import Simulation
    from headwater.discover.polls.run_state import Finding
    from headwater.discover.trying import Trial
    from headwater.ingest.simulating import SimulatedPage

# Of a text, to know it again.
LONGEST_BEGINNING = 200


def answer_as_dict(trial: "Trial") -> dict[str, Any]:
    """Never raw headers: only those that a person needs."""
    response = trial.response
    return {
        "kind": trial.kind,
        "url": trial.url,
        "status": response and response.status,
        "size_bytes": response and len(response.body),
        "took_ms": response and round(response.duration.total_seconds() * 1000),
        "etag": response and response.validators.etag,
        "last_modified": response and response.validators.last_modified,
        "problem": trial.problem or None,
    }


def simulation_as_dict(found: "Simulation", most: int) -> dict[str, Any]:
    return {
        "channels": [trial_as_dict(trial, most) for trial in found.trials],
        "pages": [reading_as_dict(page) for page in found.pages],
    }


def trial_as_dict(trial: "Trial", most: int) -> dict[str, Any]:
    items = [
        {"url": one.url, "title": one.title, "published_at": one.published_at, "author": one.author, **one.fields}
        for one in trial.items[:most]
    ]
    return {
        "kind": str(trial.kind),
        "url": trial.url,
        "problem": trial.problem or None,
        "count": len(trial.items),
        "further": trial.further,
        "notes": trial.notes,
        "items": items,
        "vacancies": [one.told | {"canonical_hash": one.canonical_hash.hex()} for one in trial.vacancies[:most]],
        "left_out": trial.left_out,
    }


def reading_as_dict(page: "SimulatedPage") -> dict[str, Any]:
    """By which rule each part was made: the producer of the text, and the parts of the quality."""
    read = page.article
    if read is None:
        return {"url": page.url, "problem": page.problem}
    return {
        "url": page.url,
        "title": read.title,
        "produced_by": str(read.produced_by),
        "words": read.word_count,
        "author": read.author,
        "authors": list(read.authors),
        "published_at": read.published_at,
        "language": read.language,
        "page_type": str(read.page_type),
        "quality": asdict(read.quality),
        "begins": beginning_of(read.text),
    }


def beginning_of(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST_BEGINNING else f"{line[: LONGEST_BEGINNING - 1]}…"


def added_as_dict(added: "Added", most: int, *, is_dry: bool) -> dict[str, Any]:
    named = {"id": added.source_id, "name": added.wanted.profile.name, "url": added.wanted.profile.url}
    found = [finding_as_dict(one) for one in added.look.findings]
    channels = {"channels": [trial_as_dict(one, most) for one in added.trials]} if is_dry else {}
    return {**named, "found": found, "reason": added.why or None, **channels}


def finding_as_dict(finding: "Finding") -> dict[str, Any]:
    """How many items an index leads to is not known before its sitemaps are read."""
    items = finding.items if finding.items or finding.is_empty else None
    damage = {"damage": finding.damage} if finding.damage else {}
    return {"kind": finding.kind, "url": finding.url, "title": finding.title, "items": items, **damage}
