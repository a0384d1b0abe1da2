"""What can be set, where a value came from, and nothing global: settings are a value that is passed in."""

from headwater.settings.groups import Settings, every_setting
from headwater.settings.loading import Given, Loaded, Origin, load

__all__ = ["Given", "Loaded", "Origin", "Settings", "every_setting", "load"]
