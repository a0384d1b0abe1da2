"""Entries of the frontier, counts of them, and answers to additions."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from headwater.actions.urls import FrontierStats, QueuedUrl
from headwater.frontier.reads import EntryRow, FailureClass


def entry_as_dict(one: EntryRow) -> dict[str, Any]:
    hashes = {"url_hash": one.url_hash.hex(), "content_hash": one.content_hash.hex() if one.content_hash else None}
    return asdict(one) | hashes


def stats_as_dict(found: FrontierStats) -> dict[str, Any]:
    by_source = {str(source): counts for source, counts in found.by_source.items()}
    return {"by_status": found.by_status, "by_source": by_source, "cursor": found.cursor}


def failure_as_dict(one: FailureClass) -> dict[str, Any]:
    return asdict(one) | {"is_capped": one.is_capped}


def queued_as_dicts(answers: Sequence[QueuedUrl]) -> list[dict[str, Any]]:
    return [asdict(one) for one in answers]
