"""The settings file to begin with."""

import tomllib

from headwater.cli.config.init import OFFERED, as_toml
from headwater.settings import Settings, every_setting


def test_it_offers_settings_that_exist_and_some_of_every_group() -> None:
    assert not set(OFFERED) - {setting.path for setting in every_setting()}
    assert {path.partition(".")[0] for path in OFFERED} == set(Settings.model_fields)


def test_as_it_is_written_it_sets_nothing() -> None:
    assert not any(tomllib.loads(as_toml()).values())
