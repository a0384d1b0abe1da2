"""`headwater config init`: a settings file to begin with."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.launch import Launch, Launched
from headwater.cli.output import say, show
from headwater.errors import UsageError
from headwater.settings.written import as_written

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

# What people change first, group by group, with a value where the default says nothing.
OFFERED: dict[str, str] = {
    "service.data_dir": "/srv/headwater",
    "log.level": "",
    "log.format": "",
    "database.url": "postgresql://user:password@127.0.0.1:5432/headwater",
    "database.pool_size": "",
    "fetch.contact": "mailto:you@example.org",
    "fetch.user_agent": "",
    "fetch.concurrency": "",
    "fetch.total_timeout": "",
    "fetch.max_body_bytes": "",
    "web.port": "",
    "web.public_url": "https://headwater.example.org",
    "identity.sign": "",
    "network.allow": "10.0.0.0/8:8080",
    "network.ports": "",
    "politeness.delay": "",
    "extract.children": "",
    "extract.templates": "",
    "lease.duration": "",
    "keep.raw_days": "",
    "keep.fetch_log_days": "",
    "keep.run_days": "",
    "keep.document_days": "",
    "poll.min_interval": "",
    "poll.default_interval": "",
    "poll.max_interval": "",
    "poll.polls_per_hour": "",
    "deliver.elasticsearch_url": "http://127.0.0.1:9200",
    "search.engine": "opensearch",
    "archive.raw_store": "folder",
}

BEGINNING = """\
# Settings of Headwater. A line that begins with # is the default, or an example: take the # away to change it.
# Flags and the environment win over this file. Every setting, and where each value comes from: headwater config show
# Secrets are better kept in a file of their own, named in the environment: HEADWATER_DATABASE__URL_FILE=/path
"""


def init(
    file: Annotated[Path, Parameter(help="Where to write it.")] = Path("headwater.toml"),
    *,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Write a settings file with comments; every line is commented out, so that nothing changes until you say so.

    It is read from the current folder, from ~/.config/headwater/ or from /etc/headwater/, whichever comes first.
    """
    place = (launch.config or file).absolute()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("x", encoding="utf-8") as written:
            written.write(as_toml())
    except FileExistsError:
        fix = "Edit it, or name another: headwater config init FILE"
        raise UsageError(f"There is a file {place} already; nothing was written.", fix=fix) from None
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error.strerror}.", fix="Name another place.") from error
    show(f"Wrote {place}")
    say("Set at least fetch.contact in it, then: headwater config check")


def as_toml() -> str:
    from headwater.settings import every_setting

    sections: dict[str, list[str]] = {}
    for setting in every_setting():
        if setting.path in OFFERED:
            group, _, name = setting.path.partition(".")
            lines = sections.setdefault(group, [f"\n# {setting.group.__doc__}", f"[{group}]"])
            lines += [f"# {setting.field.description}", f"# {name} = {_written(OFFERED[setting.path], setting.field)}"]
    return BEGINNING + "\n".join(line for lines in sections.values() for line in lines) + "\n"


def _written(example: str, field: "FieldInfo") -> str:
    """As TOML: numbers, switches and lists bare, everything else a text."""
    default = field.default
    if isinstance(default, tuple):
        values = [example] if example else default
        return f"[{', '.join(_quoted(value) for value in values)}]"
    return _quoted(example or default)


def _quoted(value: object) -> str:
    if isinstance(value, bool | int | float):
        return as_written(value)
    return f'"{as_written(value)}"'
