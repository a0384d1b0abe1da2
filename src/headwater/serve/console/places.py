"""The pages below Settings, as tabs of each of them. Pure."""

from headwater.serve.console.components import tabs
from headwater.serve.pages.markup import Markup

SETTINGS = "/console/settings"
PAGES = (
    ("Health", SETTINGS),
    ("Sinks", f"{SETTINGS}/sinks"),
    ("Takedowns", f"{SETTINGS}/takedowns"),
    ("Configuration", f"{SETTINGS}/configuration"),
    ("Users", f"{SETTINGS}/users"),
    ("Tokens", f"{SETTINGS}/tokens"),
    ("Audit log", f"{SETTINGS}/audit"),
    ("Operations", "/console/operations"),
)


def settings_tabs(path: str) -> Markup:
    return tabs(PAGES, path, "Settings")
