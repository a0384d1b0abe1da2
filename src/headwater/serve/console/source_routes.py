"""The pages of the console that are about sources. Those of one source come last: its name stands where theirs do."""

from fastapi import APIRouter

from headwater.serve.console import (
    source_adding,
    source_changes,
    source_import,
    source_list,
    source_page,
    source_settings,
    source_tabs,
)

SOURCE_ROUTERS: tuple[APIRouter, ...] = (
    source_list.router,
    source_changes.router,
    source_adding.router,
    source_import.router,
    source_settings.router,
    source_tabs.router,
    source_page.router,
)
