"""The only place that reads the process environment, the settings file and the platform's conventions."""

import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from configparser import ConfigParser, ParsingError
from configparser import Error as ConfigParserError
from pathlib import Path
from typing import Any

from headwater.errors import SettingError
from headwater.settings.loading import Given, Loaded, load

FILE_NAME = "headwater.toml"


def load_from_surroundings(flags: Mapping[str, str] | None = None, file: Path | None = None) -> Loaded:
    """Settings as this process finds them: flags given, then the environment, then the settings file."""
    environment = dict(os.environ)
    found = file or settings_file(environment)
    return load(
        Given(
            flags=flags or {},
            environment=environment,
            document=_read_document(found) if found else {},
            document_name=str(found) if found else FILE_NAME,
            read_file=lambda name: Path(name).read_text("utf-8"),
        )
    )


def surroundings() -> dict[str, str]:
    """The environment for a child process to inherit."""
    return dict(os.environ)


def settings_file_in_use(named: Path | None) -> Path | None:
    return named or settings_file(os.environ)


def settings_file(environment: Mapping[str, str]) -> Path | None:
    """The file named by HEADWATER_CONFIG, else ./headwater.toml, else the user's, else the system's."""
    if named := environment.get("HEADWATER_CONFIG"):
        return Path(named)
    home = Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    places = (Path(FILE_NAME), home / "headwater" / FILE_NAME, Path("/etc/headwater") / FILE_NAME)
    return next((place for place in places if place.is_file()), None)


def _read_document(file: Path) -> Mapping[str, Any]:
    """By the end of its name: INI, YAML, else TOML."""
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise SettingError(f"The settings file {file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SettingError(
            f"The settings file {file} is not UTF-8: {error.reason}.", fix="Save it as UTF-8."
        ) from error
    read, language = _LANGUAGES.get(file.suffix.lower(), (tomllib.loads, "TOML"))
    try:
        return read(text)
    except ValueError as error:
        complaint = " ".join(str(error).split()).rstrip(".")
        raise SettingError(f"The settings file {file} is not valid {language}: {complaint}.") from error


def _read_ini(text: str) -> dict[str, Any]:
    """Raises ValueError. Names before the first section stand outside of any."""
    parser = ConfigParser(interpolation=None, default_section="")
    try:
        parser.read_string(f"[{_NO_SECTION}]\n{text}")
    except ParsingError as error:
        raise ValueError(f"line {error.errors[0][0] - 1} is neither a [section] nor a name = value") from error
    except ConfigParserError as error:
        raise ValueError(error.message.partition("]: ")[2] or error.message) from error
    sections: dict[str, Any] = {name: dict(parser[name]) for name in parser.sections()}
    return {**sections.pop(_NO_SECTION), **sections}


def _read_yaml(text: str) -> dict[str, Any]:
    """Raises ValueError. Only an older system's file is written so, so that others need not wait for the reader."""
    import yaml

    try:
        read = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    if not isinstance(read, dict):
        raise ValueError("it holds no names and values")  # noqa: TRY004 - it is the text that is wrong
    return {str(name): value for name, value in read.items()}


_NO_SECTION = "outside of any section"
_LANGUAGES: dict[str, tuple[Callable[[str], Mapping[str, Any]], str]] = {
    **dict.fromkeys((".ini", ".cfg", ".conf"), (_read_ini, "INI")),
    **dict.fromkeys((".yaml", ".yml"), (_read_yaml, "YAML")),
}


def data_directory(configured: Path | None) -> Path:
    """As configured, else by the platform's convention; as root a place that the server's own user can reach."""
    if configured is not None:
        return configured.expanduser().absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/headwater")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "headwater"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "headwater"
