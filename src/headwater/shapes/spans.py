"""Lengths of time, for programs."""

from collections.abc import Mapping
from typing import Any


def with_seconds(told: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """These lengths of time as whole seconds, under names that say so."""
    lengths = {f"{name}_seconds": _seconds_in(told[name]) for name in names}
    return {name: value for name, value in told.items() if name not in names} | lengths


def _seconds_in(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_seconds_in(one) for one in value]
    return None if value is None else round(value.total_seconds())
