"""The web's side of a step: what is asked for, through the one fetch path."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from multidict import CIMultiDict

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.api.pages import page_state_from
from headwater.discover.api.recipe import ApiRecipe, recipe_from
from headwater.discover.api.request import request_for
from headwater.discover.api.secrets import Echoes, Secrets
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.polls.answers import came_from, validators_for
from headwater.discover.polls.backfill import wait_before_trying_again
from headwater.discover.polls.hearing import Body, Heard, NotModified, RobotsRefusal, Trouble, Wait, hear
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.overheard import Overheard
from headwater.discover.polls.reading import OVERLAP
from headwater.discover.polls.walk import Walk
from headwater.errors import UsageError
from headwater.fetch.fetcher import Wish
from headwater.fetch.following import Follower
from headwater.fetch.outcomes import Answered
from headwater.net.body import Complete
from headwater.net.transport import Response
from headwater.net.validators import Validators
from headwater.sources.channels import ChannelKind
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.effects import has_effects

queries = load_queries("headwater.discover")

# A sitemap may be larger than any page.
SITEMAP_BYTES = 50 * 1024 * 1024
# What a search may find.
FOUND = frozenset({ChannelKind.FEED, ChannelKind.SITEMAP, ChannelKind.LISTING})


@dataclass(frozen=True, slots=True)
class Asker:
    follower: Follower
    database: Database
    overheard: Overheard
    secrets: Secrets = field(default_factory=dict, repr=False)

    async def ask(self, channel: Leased, walk: Walk, *, is_trial: bool = False) -> Heard:
        """A trial asks without validators: what is not modified cannot be shown."""
        is_first_poll = walk.is_first_step and channel.past.last_ok_at is None and not is_trial
        if is_first_poll and channel.kind in FOUND and (overheard := self.overheard.take(channel.url.url_hash)):
            return overheard
        try:
            wish, echoes = self._wish(channel, walk, is_conditional=not is_trial)
        except UsageError as error:
            # A recipe without its secret, or a step that is no URL: nothing to be asked.
            return Trouble(ErrorClass.UNREADABLE, error.what)
        outcome = await self.follower.fetch(wish)
        is_conditional = isinstance(outcome, Answered) and bool(wish.conditions_at(outcome.response.url))
        heard = without_echoes(hear(outcome, is_conditional=is_conditional), echoes)
        if isinstance(heard, Body | NotModified) and channel.kind is ChannelKind.API:
            if isinstance(heard, Body) and heard.response.status not in recipe_of(channel).success_codes:
                message = f"HTTP {heard.response.status}, which its recipe does not count as a success"
                return Trouble(ErrorClass.UPSTREAM, message, heard.response.status)
            # Its recipe says where it is asked; where that leads to holds our key, and is nobody's to keep.
            return replace(heard, moved_to=None)
        if isinstance(heard, Body) and channel.kind is ChannelKind.SEARCH:
            if not is_trial:
                self.overheard.keep(heard)
            if walk.is_first_step:
                return replace(heard, sitemaps=await sitemaps_of(self.database, heard.response.url))
        return heard

    def _wish(self, channel: Leased, walk: Walk, *, is_conditional: bool) -> tuple[Wish, Echoes]:
        step = walk.step
        validators = validators_for(channel, walk) if is_conditional else Validators()
        etag, modified = validators.etag, validators.last_modified
        if step.reads_as is ChannelKind.API:
            wish, echoes = self._api_wish(channel, walk)
            # An unchanged first page says nothing of the others.
            is_all = recipe_of(channel).pagination.type == "none"
            return (replace(wish, etag=etag, last_modified=modified) if is_all else wish), echoes
        if step.url != channel.url.url and has_effects(canonicalise(step.url)):
            raise UsageError(f"{step.url[:200]} was not asked: it looks as if it did something when it is fetched.")
        body_bytes = SITEMAP_BYTES if step.reads_as is ChannelKind.SITEMAP else None
        validated = canonicalise(came_from(channel, walk))
        wish = Wish(canonicalise(step.url), str(step.reads_as), etag, modified, validated, body_bytes=body_bytes)
        return wish, Echoes()

    def _api_wish(self, channel: Leased, walk: Walk) -> tuple[Wish, Echoes]:
        """Secrets are filled in here and go no further: what is asked is neither stored nor logged."""
        recipe = recipe_of(channel)
        state = page_state_from(walk.step.state or {})
        last = channel.past.last_ok_at
        began = walk.kept.get("began_at")
        now = datetime.fromisoformat(began) if began else channel.now
        asked = request_for(recipe, state, last and last - OVERLAP, self.secrets, now)
        headers = {name: value.get_secret_value() for name, value in asked.headers.items()}
        url = canonicalise(asked.url.get_secret_value())
        wish = Wish(
            url,
            str(ChannelKind.API),
            headers=headers,
            holds_secret=asked.echoes.are_in,
            is_only_inside=bool(recipe.secret_names) and url.origin.scheme == "http",
        )
        return wish, asked.echoes


def without_echoes(heard: Heard, echoes: Echoes) -> Heard:
    """An API may repeat our key in whatever it says: masked before anybody reads, stores or shows it."""
    if not echoes:
        return heard
    match heard:
        case Body(response) | NotModified(response):
            return replace(heard, response=_masked(response, echoes))
        case Trouble(message=message) | RobotsRefusal(message=message):
            return replace(heard, message=echoes.masked(message))
        case Wait(why=why):
            return replace(heard, why=echoes.masked(why))


def _masked(response: Response, echoes: Echoes) -> Response:
    raw = [(name, echoes.masked_bytes(value)) for name, value in response.raw_headers]
    headers = CIMultiDict((name, echoes.masked(value)) for name, value in response.headers.items())
    content = response.content
    if isinstance(content, Complete):
        content = Complete(echoes.masked_json(content.body))
    url = canonicalise(echoes.masked(response.url.url))
    return replace(response, url=url, headers=headers, raw_headers=raw, content=content)


def recipe_of(channel: Leased) -> ApiRecipe:
    return recipe_from(channel.recipe, channel.url.url)


def another_try(channel: Leased, walk: Walk, heard: Heard) -> Wait | None:
    """How long to wait for it, where what failed for the moment is tried again in the same run: as an API's recipe
    wants, and in a backfill, which would lose a part of the past.
    """
    if channel.kind is ChannelKind.BACKFILL and isinstance(heard, Trouble) and heard.is_passing:
        patience = wait_before_trying_again(walk.step.tries, heard.retry_after)
        return None if patience is None else Wait(patience, f"{heard.message}, tried again then")
    if channel.kind is not ChannelKind.API or not isinstance(heard, Trouble) or not heard.is_passing:
        return None
    retry = recipe_of(channel).retry
    wait = retry.wait_after(walk.step.tries) if retry else None
    return None if wait is None else Wait(max(wait, heard.retry_after), f"{heard.message}, tried again by its recipe")


async def sitemaps_of(database: Database, site: CanonicalUrl) -> tuple[str, ...]:
    """What the robots.txt of a host names; it was read before the host was asked for anything."""
    rows = await database.fetch(queries.robots_sitemaps, site.bucket, site.host)
    return tuple(row["url"] for row in rows)
