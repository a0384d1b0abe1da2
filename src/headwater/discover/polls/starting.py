"""Where a run begins. Pure."""

from headwater.discover.items import Item
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.run_state import RunState, Todo


def start_of(channel: Leased) -> RunState:
    return RunState((Todo(channel.url.url, channel.kind),))


def start_pages(channel: Leased) -> tuple[Item, ...]:
    """A crawl begins here; `updated_at` now makes pages that were fetched before be looked at again."""
    urls = channel.source.start_urls or (channel.url.url,)
    return tuple(Item(url, updated_at=channel.now) for url in urls)
