"""Vacancies of pages and lists, made into rows of the archive."""

from collections.abc import Iterable
from typing import Any, Protocol

from headwater.archive.job import FIELDS, NewJob


class FoundVacancies(Protocol):
    """Its other fields are named as those of NewJob; what it lacks was not said."""

    @property
    def canonical_hash(self) -> str: ...


def jobs_from(found: Iterable[FoundVacancies], page_url: str, *, is_detailed: bool) -> list[NewJob]:
    """`is_detailed`: read on the vacancy's own page, not in a list."""
    return [NewJob(**_said(one), page_url=page_url, is_detailed=is_detailed) for one in found]


def _said(one: FoundVacancies) -> dict[str, Any]:
    said = {name: getattr(one, name) for name in FIELDS if hasattr(one, name)}
    return said | {"canonical_hash": bytes.fromhex(one.canonical_hash)}
