"""Every setting, where its value came from, and nothing global: settings are a value that is passed in."""

from headwater.settings.groups import Settings, every_setting
from headwater.settings.loading import Given, Loaded, ValueOrigin, load

__all__ = ["Given", "Loaded", "Settings", "ValueOrigin", "every_setting", "load"]
