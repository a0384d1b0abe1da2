"""The kinds of sinks that are installed, ours and those of other distributions: entry points `headwater.sinks`."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from headwater.deliver.sink import SinkKind
from headwater.errors import NotFound, SettingError

GROUP = "headwater.sinks"


@cache
def installed() -> dict[str, EntryPoint]:
    """By type. None of their code is imported."""
    return {one.name: one for one in sorted(entry_points(group=GROUP), key=lambda one: one.name)}


@cache
def kind_named(name: str) -> SinkKind:
    if name not in installed():
        raise NotFound(f"There is no sink of the type '{name}'.", fix=f"Types are: {', '.join(installed())}.")
    try:
        kind = installed()[name].load()
    except ImportError as error:
        raise SettingError(
            f"A sink of the type '{name}' cannot be used: {error}.", fix=f"Install it: pip install 'headwater[{name}]'"
        ) from error
    if not isinstance(kind, SinkKind):
        raise SettingError(f"The entry point {installed()[name].value} is no SinkKind.")
    return kind
