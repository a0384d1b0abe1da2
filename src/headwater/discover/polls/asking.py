"""The web's side of a step: what is asked for, through the one fetch path."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import SecretStr

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.api.pages import page_state_from
from headwater.discover.api.recipe import ApiRecipe, recipe_from
from headwater.discover.api.request import request_for
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.polls.hearing import Body, Heard, NotModified, Trouble, Wait, hear
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.reading import OVERLAP
from headwater.discover.polls.walk import Walk
from headwater.errors import UsageError
from headwater.fetch.fetcher import Wish
from headwater.fetch.following import Follower
from headwater.sources.channels import ChannelKind
from headwater.urls.canonical import CanonicalUrl, canonicalise

queries = load_queries("headwater.discover")

# A sitemap may be larger than any page.
SITEMAP_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Asker:
    follower: Follower
    database: Database
    secrets: Mapping[str, SecretStr] = field(default_factory=dict, repr=False)

    async def ask(self, channel: Leased, walk: Walk, *, is_trial: bool = False) -> Heard:
        """A trial asks without validators: what is not modified cannot be shown."""
        try:
            wish = self._wish(channel, walk, is_conditional=walk.is_first_step and not is_trial)
        except UsageError as error:
            # A recipe without its secret, or a step that is no URL: nothing to be asked.
            return Trouble(ErrorClass.UNREADABLE, error.what)
        heard = hear(
            await self.follower.fetch(wish), is_conditional=wish.etag is not None or wish.last_modified is not None
        )
        if isinstance(heard, Body | NotModified) and channel.kind is ChannelKind.API:
            if isinstance(heard, Body) and heard.response.status not in recipe_of(channel).success_codes:
                message = f"HTTP {heard.response.status}, which its recipe does not count as a success"
                return Trouble(ErrorClass.UPSTREAM, message, heard.response.status)
            # Its recipe says where it is asked; where that leads to holds our key, and is nobody's to keep.
            return replace(heard, moved_to=None)
        if isinstance(heard, Body) and channel.kind is ChannelKind.SEARCH and walk.is_first_step:
            return replace(heard, sitemaps=await sitemaps_of(self.database, heard.response.url))
        return heard

    def _wish(self, channel: Leased, walk: Walk, *, is_conditional: bool) -> Wish:
        """Validators are the first answer's; what a run asks beyond it is told by it."""
        step = walk.step
        # An index of sitemaps lists nothing itself: that it has not changed says nothing of its children.
        is_index = channel.kind is ChannelKind.SITEMAP and not channel.past.last_item_count
        # A search goes by what the page names, and by places that the page says nothing of.
        is_told_apart = is_conditional and not is_index and channel.kind is not ChannelKind.SEARCH
        etag, modified = (channel.etag, channel.last_modified) if is_told_apart else (None, None)
        if step.reads_as is ChannelKind.API:
            return replace(self._api_wish(channel, walk), etag=etag, last_modified=modified)
        body_bytes = SITEMAP_BYTES if step.reads_as is ChannelKind.SITEMAP else None
        return Wish(canonicalise(step.url), str(step.reads_as), etag, modified, body_bytes=body_bytes)

    def _api_wish(self, channel: Leased, walk: Walk) -> Wish:
        """Secrets are filled in here and go no further: what is asked is neither stored nor logged."""
        recipe = recipe_of(channel)
        state = page_state_from(walk.step.state or {})
        last = channel.past.last_ok_at
        asked = request_for(recipe, state, last and last - OVERLAP, self.secrets, channel.now)
        headers = {name: value.get_secret_value() for name, value in asked.headers.items()}
        return Wish(canonicalise(asked.url.get_secret_value()), str(ChannelKind.API), headers=headers)


def recipe_of(channel: Leased) -> ApiRecipe:
    return recipe_from(channel.recipe, channel.url.url)


def another_try(channel: Leased, walk: Walk, heard: Heard) -> Wait | None:
    """How long to wait for it, where an API's recipe wants what failed for the moment tried again in the same run."""
    if channel.kind is not ChannelKind.API or not isinstance(heard, Trouble) or not heard.is_passing:
        return None
    retry = recipe_of(channel).retry
    wait = retry.wait_after(walk.step.tries) if retry else None
    return None if wait is None else Wait(max(wait, heard.retry_after), f"{heard.message}, tried again by its recipe")


async def sitemaps_of(database: Database, site: CanonicalUrl) -> tuple[str, ...]:
    """What the robots.txt of a host names; it was read before the host was asked for anything."""
    rows = await database.fetch(queries.robots_sitemaps, site.bucket, site.host)
    return tuple(row["url"] for row in rows)
