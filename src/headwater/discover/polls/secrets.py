"""Secrets by name, for APIs that want to know who asks: from a file of our own, never from the database."""

from pathlib import Path

from pydantic import SecretStr

from headwater.errors import SettingError


def secrets_in(file: Path | None) -> dict[str, SecretStr]:
    """Lines of NAME=value; `#` begins a comment."""
    if file is None:
        return {}
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"The file of secrets {file} cannot be read: {error}.") from error
    if file.stat().st_mode & 0o077:
        raise SettingError(f"Others may read the secrets in {file}.", fix=f"Say: chmod 600 {file}")
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name.strip(): SecretStr(value.strip()) for name, _, value in pairs}
