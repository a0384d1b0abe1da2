"""Values of settings as people write them. Pure."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from headwater.settings.durations import format_duration


def as_written(value: Any) -> str:
    """As one would write it in the settings file; SecretStr masks itself."""
    if value is None:
        return ""
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if not isinstance(value, Path) else value.as_posix()
