"""From flags, environment and file to Settings, remembering where each value came from. Pure."""

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ValidationError

from headwater.errors import SettingError
from headwater.settings.aliases import ALIASES, IGNORED, IGNORED_IN_FILE, SECTIONS
from headwater.settings.durations import format_duration
from headwater.settings.groups import Settings, every_setting

PREFIX = "HEADWATER_"
# Read elsewhere on purpose: where the settings file is, and what the test suite is pointed at.
_NOT_SETTINGS = ("HEADWATER_CONFIG", "HEADWATER_TEST_")


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    kind: Literal["default", "file", "environment", "flag"]
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


@dataclass(frozen=True, slots=True)
class Given:
    """Everything a person or a machine said, as found; nothing of it has been judged yet."""

    flags: Mapping[str, str] = field(default_factory=dict)  # "fetch.contact" -> text
    environment: Mapping[str, str] = field(default_factory=dict)
    document: Mapping[str, Any] = field(default_factory=dict)  # the parsed file
    document_name: str = "headwater.toml"
    read_file: Callable[[str], str] = lambda _name: ""


@dataclass(frozen=True, slots=True)
class Loaded:
    settings: Settings
    origins: Mapping[str, ValueOrigin]
    warnings: tuple[str, ...]
    # How our sessions are called in the database: by the command that opened them.
    application_name: str = "headwater"


@dataclass(frozen=True, slots=True)
class _Said:
    setting: str
    value: Any
    origin: ValueOrigin


def load(given: Given) -> Loaded:
    """Flag beats environment beats file beats default; a wrong value is one SettingError naming its origin."""
    warnings: list[str] = []
    said: dict[str, _Said] = {}
    for layer in (_from_file(given, warnings), _from_environment(given, warnings), _from_flags(given)):
        said |= {one.setting: one for one in layer}
    settings = _validate(said)
    origins = {setting.path: ValueOrigin("default") for setting in every_setting()}
    origins |= {path: one.origin for path, one in said.items()}
    return Loaded(settings, origins, tuple(warnings))


def _from_file(given: Given, warnings: list[str]) -> list[_Said]:
    aliases = {alias.name: alias for alias in ALIASES if alias.place == "file"}
    by_alias: dict[str, _Said] = {}
    own: dict[str, _Said] = {}
    for name, value in _named_values(given.document):
        origin = ValueOrigin("file", f"{given.document_name}: {name}")
        alias = aliases.get(name) or aliases.get(_outside_of_section(name))
        if alias:
            for one in _read_alias(alias.setting, _text_of(value), alias.read, origin):
                _take_first(by_alias, one, warnings)
        elif why := _why_ignored(name):
            warnings.append(f"{name} in {given.document_name} is ignored: {why}.")
        else:
            own[name] = _Said(_known(name, given.document_name), value, origin)
    return list((by_alias | own).values())


def _named_values(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """`fetch.contact` for a name in a table, the bare name for one outside of any."""
    for key, value in document.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{name}", inner) for name, inner in value.items())
        else:
            yield key, value


def _outside_of_section(name: str) -> str:
    section, _, inner = name.partition(".")
    return inner if section in SECTIONS else name


def _why_ignored(name: str) -> str:
    return IGNORED_IN_FILE.get(name) or IGNORED_IN_FILE.get(name.partition(".")[0], "")


def _take_first(said: dict[str, _Said], one: _Said, warnings: list[str]) -> None:
    first = said.setdefault(one.setting, one)
    if first.value != one.value:
        warnings.append(f"{one.origin.name} is ignored: {first.origin.name} sets {one.setting} already.")


def _from_environment(given: Given, warnings: list[str]) -> list[_Said]:
    said: dict[str, _Said] = {}
    for alias in (alias for alias in ALIASES if alias.place == "environment"):
        found = _variable(alias.name, given)
        if found is None:
            continue
        for one in _read_alias(alias.setting, found[1], alias.read, ValueOrigin("environment", found[0])):
            _take_first(said, one, warnings)
    warnings.extend(f"{name} is ignored: {why}." for name, why in IGNORED.items() if name in given.environment)
    said |= {one.setting: one for one in _our_variables(given)}
    return list(said.values())


def _our_variables(given: Given) -> Iterator[_Said]:
    for name, value in given.environment.items():
        if not name.startswith(PREFIX) or name.startswith(_NOT_SETTINGS):
            continue
        path, is_file = _path_of(name)
        text = _contents(name, value, given) if is_file else value
        yield _Said(path, text, ValueOrigin("environment", name))


def _path_of(name: str) -> tuple[str, bool]:
    """`HEADWATER_FETCH__CONTACT` and `HEADWATER_FETCH_CONTACT` both mean fetch.contact; `…_FILE` names a file."""
    known = {setting.path for setting in every_setting()}
    group, _, rest = name.removeprefix(PREFIX).lower().partition("_")
    path = f"{group}.{rest.removeprefix('_')}"
    if path not in known and path.endswith("_file") and path.removesuffix("_file") in known:
        return path.removesuffix("_file"), True
    return _known(path, name, spell=lambda found: PREFIX + found.replace(".", "__").upper()), False


def _variable(name: str, given: Given) -> tuple[str, str] | None:
    if name in given.environment:
        return name, given.environment[name]
    if (file_name := f"{name}_FILE") in given.environment:
        return file_name, _contents(file_name, given.environment[file_name], given)
    return None


def _contents(name: str, path: str, given: Given) -> str:
    try:
        return given.read_file(path).strip()
    except OSError as error:
        raise SettingError(
            f"{name} names the file {path}, which cannot be read: {error.strerror or error}.",
            fix="Make the file readable, or unset the variable.",
        ) from error


def _from_flags(given: Given) -> Iterator[_Said]:
    for path, value in given.flags.items():
        yield _Said(_known(path, "the command line"), value, ValueOrigin("flag"))


def _read_alias(setting: str, text: str, read: Callable[[str], str | None], origin: ValueOrigin) -> Iterator[_Said]:
    try:
        value = read(text)
    except ValueError as error:
        raise SettingError(f"{origin.name} = {text!r}: {error}.", fix="Correct or unset it.") from error
    if value is not None:
        yield _Said(setting, value, origin)


def _text_of(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _known(path: str, where: str, spell: Callable[[str], str] = str) -> str:
    known = [setting.path for setting in every_setting()]
    if path in known:
        return path
    near = difflib.get_close_matches(path, known, n=1)
    raise SettingError(
        f"Unknown setting in {where}: {path}.",
        fix=f"Did you mean {spell(near[0])}?" if near else "`headwater config show` lists every setting.",
    )


def _validate(said: Mapping[str, _Said]) -> Settings:
    nested: dict[str, dict[str, Any]] = {}
    for one in said.values():
        group, _, name = one.setting.partition(".")
        # An empty variable is how compose files and shells spell "not set".
        if one.value not in ("", None):
            nested.setdefault(group, {})[name] = one.value
    try:
        return Settings.model_validate(nested)
    except ValidationError as error:
        raise SettingError(_sentence(error, said), fix="`headwater config show` lists every setting.") from error


def refuse_contradictions(settings: Settings) -> None:
    """Raises SettingError where two settings cannot both hold."""
    least, most = settings.poll.min_interval, settings.poll.max_interval
    if least > most:
        raise SettingError(
            f"poll.min_interval ({format_duration(least)}) is longer than poll.max_interval ({format_duration(most)}).",
            fix="Make the first one shorter, or the second one longer.",
        )


def _sentence(error: ValidationError, said: Mapping[str, _Said]) -> str:
    first = error.errors(include_url=False)[0]
    path = ".".join(str(part) for part in first["loc"][:2])
    one = said[path]
    secret = next(setting.is_secret for setting in every_setting() if setting.path == path)
    shown = "(hidden)" if secret else repr(one.value)
    reason = first["msg"].removeprefix("Value error, ")
    return f"{path} = {shown} ({one.origin}) is not usable: {reason[:1].lower()}{reason[1:]}."
