"""The generated pages of docs/: `python -m headwater.cli.reference docs`. What they describe is asked, not repeated."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cyclopts import App

from headwater.cli.app import EXIT_CODES, app
from headwater.cli.examples import EXAMPLES
from headwater.cli.output import say
from headwater.frontier import states
from headwater.metrics import metrics_page
from headwater.settings import every_setting
from headwater.settings.aliases import ALIASES, IGNORED, IGNORED_IN_FILE
from headwater.settings.groups import Setting, Settings
from headwater.settings.loading import PREFIX
from headwater.settings.written import as_written

USAGE = 2

SETTINGS_INTRODUCTION = """\
# Settings

Written by `make docs` from the code; do not edit it by hand.

A flag (`--set group.name=value`) beats the environment, the environment beats the settings file, the file beats the
default. The file is the one named by `--config` or `HEADWATER_CONFIG`, else `headwater.toml` in the current folder,
else `~/.config/headwater/headwater.toml` (or below `XDG_CONFIG_HOME`), else `/etc/headwater/headwater.toml`. In it,
`fetch.contact` is `contact` in the table `[fetch]`. A file whose name ends in `.ini`, `.cfg` or `.conf` is read as INI,
one in `.yaml` or `.yml` as YAML, any other as TOML.

Durations are written `250ms`, `30s`, `5m`, `1h30m`, `7d`, or as a number of seconds. An empty variable counts as not
set. A variable with `_FILE` after its name holds the path of a file to read the value from, which is how secrets are
best given. A name that is not known, or a value that cannot be used, stops the program with one sentence.
`headwater config show` prints every value and where it comes from; `headwater config check` also says which of the
names that you use do nothing.
"""

ALIASES_INTRODUCTION = """\
## Names of other systems

Accepted for good, so that an existing environment or file goes on working. The setting's own `{prefix}…` name beats
them; of two that disagree the one listed first holds, and the other is named in a warning. Names in the environment
may have `_FILE` after them; names in the file stand at its top level or in the section `[planet]`, those with a dot in
the section before it. Words of other systems are understood whatever name they stand under: `warn` is `warning`, `text`
is `console`, `production` is `prod`, in any letter case.
"""

COMMANDS_INTRODUCTION = """\
# Commands

Written by `make docs` from the code; do not edit it by hand.

Data goes to standard output, everything else to standard error. These options stand before or after any command:

* `--config PATH`: settings file instead of the usual places.
* `--set group.name=value`: one setting, as often as needed; see [settings](settings.md).

A command ends with one of these codes:

```
{exit_codes}
```
"""


def pages() -> Mapping[str, str]:
    """Every generated page by its name inside docs/."""
    return {
        "settings.md": settings_page(),
        "commands.md": commands_page(),
        "states.md": states.as_markdown(),
        "metrics.md": metrics_page(),
    }


def settings_page() -> str:
    groups = "\n".join(_group_section(name) for name in Settings.model_fields)
    return "\n".join((SETTINGS_INTRODUCTION, groups, ALIASES_INTRODUCTION.format(prefix=PREFIX), _aliases()))


def commands_page() -> str:
    sections = [_command_section(name, command) for name, command in every_command(app, "headwater")]
    return "\n".join((COMMANDS_INTRODUCTION.format(exit_codes=EXIT_CODES), *sections))


def every_command(group: App, name: str) -> Iterator[tuple[str, App]]:
    """Each command that does something, under its full name, in the order of the program."""
    inner = [word for word in group if not word.startswith("-")]
    if not inner:
        yield name, group
    for word in inner:
        yield from every_command(group[word], f"{name} {word}")


def write_pages(folder: Path) -> list[Path]:
    """Only what differs is written; answers with what was."""
    folder.mkdir(parents=True, exist_ok=True)
    changed = [folder / name for name, text in pages().items() if _current(folder / name) != text]
    for file in changed:
        file.write_text(pages()[file.name], "utf-8")
    return changed


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1:
        say("usage: python -m headwater.cli.reference FOLDER")
        return USAGE
    for file in write_pages(Path(arguments[0])):
        say(f"wrote {file}")
    return 0


def _command_section(name: str, command: App) -> str:
    text = command.generate_docs(recursive=False, heading_level=2, usage_name=name)
    # Its heading is the function's name, and its usage line depends on how this process was started.
    meaning = text.split("```", 2)[2].strip()
    examples = "\n".join(EXAMPLES.get(name.removeprefix("headwater "), ()))
    return f"## {name}\n\n{meaning}\n" + (f"\n```\n{examples}\n```\n" if examples else "")


def _group_section(name: str) -> str:
    settings = [setting for setting in every_setting() if setting.path.startswith(f"{name}.")]
    rows = [
        (f"`{setting.path}`", f"`{_variable(setting)}`", _default(setting), setting.field.description or "")
        for setting in settings
    ]
    table = _table(("setting", "environment", "default", "meaning"), rows)
    return f"## {name}\n\n{settings[0].group.__doc__}\n\n{table}"


def _variable(setting: Setting) -> str:
    return PREFIX + setting.path.replace(".", "__").upper()


def _default(setting: Setting) -> str:
    text = as_written(setting.field.default)
    return f"`{text}`" if text else "(empty)"


def _aliases() -> str:
    rows = [(f"`{one.name}`", one.place, f"`{one.setting}`", one.rule or "as it is") for one in ALIASES]
    rows += [(f"`{name}`", "environment", "none", f"ignored with a warning: {why}") for name, why in IGNORED.items()]
    rows += [(f"`{name}`", "file", "none", f"ignored with a warning: {why}") for name, why in IGNORED_IN_FILE.items()]
    return _table(("name", "place", "setting", "how its value is read"), rows)


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = (columns, ["---"] * len(columns), *rows)
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _current(file: Path) -> str:
    return file.read_text("utf-8") if file.exists() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
