"""`headwater config`: what every setting is, and who said so."""

from typing import TYPE_CHECKING, Any

from cyclopts import App

from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import show, show_json, show_table
from headwater.errors import NotFound

if TYPE_CHECKING:
    from headwater.settings import Loaded

app = App(name="config", help="Show and check the settings; write a settings file.")
app.command("headwater.cli.config.init:init", name="init", help="Write a settings file with comments.")


@app.command(name="show")
def show_all(*, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008 (frozen)
    """Print every setting, its value and its origin; secrets are masked."""
    loaded = launch.settings()
    from headwater.settings.written import as_written

    rows = [(path, as_written(value), str(loaded.origins[path])) for path, value in values_of(loaded)]
    if json:
        show_json({path: {"value": value, "origin": origin} for path, value, origin in rows})
    else:
        show_table(("setting", "value", "from"), rows)


@app.command(name="get")
def get(setting: str, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Print one value.

    Parameters
    ----------
    setting
        Its name, such as fetch.contact.
    """
    found = dict(values_of(launch.settings()))
    if setting not in found:
        raise NotFound(f"There is no setting {setting}.", fix="`headwater config show` lists every setting.")
    from headwater.settings.written import as_written

    show(as_written(found[setting]))


@app.command(name="check")
def check(*, launch: Launched = Launch()) -> None:  # noqa: B008
    """Load everything, the file of secrets too, and say whether it holds."""
    from uuid import UUID

    from headwater.archive.stores.known import stores_of
    from headwater.discover.api.secrets import secrets_from
    from headwater.services import data_folder

    loaded = launch.settings()
    for warning in loaded.warnings:
        show(f"! {warning}")
    # Raises where a store of raw bodies lacks a setting; which installation asks does not matter.
    stores_of(loaded.settings.archive, UUID(int=0), data_folder(loaded.settings))
    for name, secret in secrets_from(loaded.settings.poll.secrets_file).items():
        if not secret.origins:
            show(f"! The secret {name} is bound to no origin and sent nowhere. Write {name}@https://host=value.")
    changed = sum(origin.kind != "default" for origin in loaded.origins.values())
    show(f"✓ {len(loaded.origins)} settings are valid, {changed} of them set by you.")


@app.command(name="path")
def path(*, launch: Launched = Launch()) -> None:  # noqa: B008
    """Print which settings file is read and where data is kept."""
    from headwater.services import data_folder
    from headwater.settings.environment import settings_file_in_use

    show(f"settings  {settings_file_in_use(launch.config) or 'none found'}")
    show(f"data      {data_folder(launch.settings().settings)}")


def values_of(loaded: "Loaded") -> list[tuple[str, Any]]:
    from headwater.settings import every_setting

    found = []
    for setting in every_setting():
        group = getattr(loaded.settings, setting.path.partition(".")[0])
        found.append((setting.path, getattr(group, setting.attribute)))
    return found
