"""The pages of the console that are about the archive, the frontier and its hosts, and how the installation is set."""

from fastapi import APIRouter

from headwater.serve.console import (
    account,
    documents,
    frontier,
    frontier_adding,
    frontier_url,
    hosts,
    jobs,
    log_page,
    operations,
    people,
    settings,
    sinks,
    takedowns,
    views,
)

PAGE_ROUTERS: tuple[APIRouter, ...] = (
    account.router,
    documents.router,
    frontier.router,
    frontier_adding.router,
    frontier_url.router,
    hosts.router,
    jobs.router,
    log_page.router,
    operations.router,
    people.router,
    settings.router,
    sinks.router,
    takedowns.router,
    views.router,
)
