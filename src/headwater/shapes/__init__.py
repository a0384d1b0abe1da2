"""Values as programs read them, as dictionaries: the same for `--json` and for the API. Pure."""
