"""Reading the past of a source: its sitemaps and the archives of its feeds, back to a day. Pure.

One answer at a time, with a pause after each, so that news of the same host never wait for it. Between two answers the
run is put away like any other, and goes on from there in whatever process.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from headwater.discover.items import Item, Reading
from headwater.discover.polls.run_state import RunState, Todo
from headwater.errors import UrlRejected
from headwater.sources.kinds import ChannelKind
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import registrable_domain

MOST_PAGES = 20_000  # of its source, unless a person says how many
SHORTEST_PAUSE = timedelta(seconds=30)
MOST_TRIES = 5
FIRST_RETRY = timedelta(minutes=15)


def start_of_backfill(site: str, places: Sequence[str], sitemaps: Sequence[str]) -> RunState:
    """`places` are its channels as `kind url`, `sitemaps` those that robots.txt names, where no sitemap is followed."""
    followed = [Todo(url, ChannelKind(kind)) for kind, _, url in (place.partition(" ") for place in places)]
    if not any(todo.reads_as is ChannelKind.SITEMAP for todo in followed):
        # What is usual may be there although nobody named it.
        usual = canonicalise(site).origin
        named = sitemaps or (f"{usual}/sitemap.xml",)
        followed += [Todo(url, ChannelKind.SITEMAP) for url in named]
    first, *others = followed
    return RunState((first,)).ahead(others, ChannelKind.BACKFILL.traits.most_answers)


def pause_after(host_delay: timedelta) -> timedelta:
    """Others of the same host come first: of five slots it takes one at most."""
    return max(SHORTEST_PAUSE, 5 * host_delay)


def wait_before_trying_again(tries: int, asked: timedelta) -> timedelta | None:
    """An answer that failed for the moment is not lost; None after the last try."""
    return max(FIRST_RETRY * 2**tries, asked) if tries < MOST_TRIES else None


def since_then(items: Sequence[Item], since: datetime) -> tuple[Item, ...]:
    """Those that are not known to be older."""
    return tuple(item for item in items if (dated := _date_of(item)) is None or dated >= since)


def page_before(reading: Reading, step: Todo, here: str, since: datetime) -> Todo | None:
    """The next older page of a feed's archive; None where it ends, goes back far enough, leaves its site or repeats."""
    items, further = reading.items, reading.more[0] if reading.more else ""
    dates = [dated for dated in map(_date_of, items) if dated]
    is_past = bool(dates) and max(dates) < since
    if not items or not further or is_past or items[0].url == step.before:
        return None
    if not _is_of_one_site(further, here):
        return None
    return Todo(further, ChannelKind.FEED, step.depth + 1, before=items[0].url)


def _is_of_one_site(further: str, here: str) -> bool:
    """A feed may say anything, also what is no address."""
    try:
        return registrable_domain(canonicalise(further).host) == registrable_domain(canonicalise(here).host)
    except UrlRejected:
        return False


def progress_in_words(run_state: RunState, since: datetime) -> str:
    left = f"{len(run_state.todo):,} more to ask for" if run_state.todo else "nothing more to ask for"
    asked = f"{len(run_state.asked):,} {'answer' if len(run_state.asked) == 1 else 'answers'} read"
    pages = f"{run_state.tally.inserted:,} {'page' if run_state.tally.inserted == 1 else 'pages'} queued"
    return f"back to {since:%Y-%m-%d}: {asked}, {pages}, {left}"


def _date_of(item: Item) -> datetime | None:
    return item.published_at or item.updated_at
