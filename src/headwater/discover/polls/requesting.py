"""The web's side of a step: what is asked for, through the one fetch path."""

from dataclasses import dataclass, field, replace

from multidict import CIMultiDict

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.api.pages import page_state_from
from headwater.discover.api.recipe import ApiRecipe, recipe_from
from headwater.discover.api.request import ApiRequest, request_for
from headwater.discover.api.secrets import Echoes, Secrets, require_bound
from headwater.discover.api.tokens import LONGEST_ANSWER_BYTES, Token, Tokens, refusal_in, token_in, token_request
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.polls.answers import OVERLAP, came_from, validators_for, wants_all
from headwater.discover.polls.backfill import wait_before_trying_again
from headwater.discover.polls.classify import Body, Deferred, Heard, NotModified, RobotsRefusal, Trouble, classify
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.response_cache import ResponseCache, cached_response, is_fresh
from headwater.discover.polls.run_state import RunState
from headwater.errors import UsageError
from headwater.fetch.fetcher import FetchRequest
from headwater.fetch.following import Follower
from headwater.fetch.outcomes import Answered
from headwater.net.body import Complete
from headwater.net.transport import Response
from headwater.net.validators import Validators
from headwater.sources.channels import ChannelKind
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.effects import has_effects
from headwater.urls.origin import Origin

queries = load_queries("headwater.discover")

REFUSED = 401
# A token's server does not take the client, or the request (RFC 6749, 5.2).
NOT_THE_CLIENT = frozenset({400, 401, 403})


@dataclass(frozen=True, slots=True)
class Asker:
    follower: Follower
    database: Database
    response_cache: ResponseCache
    tokens: Tokens
    secrets: Secrets = field(default_factory=dict, repr=False)

    async def ask(self, channel: Leased, run_state: RunState, *, is_trial: bool = False) -> Heard:
        """A trial asks without validators: what is not modified cannot be shown."""
        is_first_poll = run_state.is_first_step and channel.past.last_ok_at is None and not is_trial
        before = cached_response(channel.progress) if is_first_poll and channel.kind.traits.is_found else None
        if before and is_fresh(before, channel.now):
            return before
        try:
            heard = await self._heard(channel, run_state, before, is_trial=is_trial)
        except UsageError as error:
            # A recipe without its secret, or a step that is no URL: nothing to be asked.
            return Trouble(ErrorClass.UNREADABLE, error.what)
        if before and isinstance(heard, NotModified):
            # Nobody has read it yet.
            return replace(before, is_from_cache=False)
        if isinstance(heard, Body | NotModified) and channel.kind is ChannelKind.API:
            if isinstance(heard, Body) and heard.response.status not in recipe_of(channel).success_codes:
                message = f"HTTP {heard.response.status}, which its recipe does not count as a success"
                return Trouble(ErrorClass.UPSTREAM, message, heard.response.status)
            # Its recipe says where it is asked; where that leads to holds our key, and is nobody's to keep.
            return replace(heard, moved_to=None)
        if isinstance(heard, Body) and channel.kind is ChannelKind.SEARCH:
            if not is_trial:
                self.response_cache.keep(heard)
            if run_state.is_first_step:
                return replace(heard, sitemaps=await sitemaps_of(self.database, heard.response.url))
        return heard

    async def _heard(self, channel: Leased, run_state: RunState, before: Body | None, *, is_trial: bool) -> Heard:
        """With an access token where its recipe wants one. A known one that is refused is renewed once."""
        if channel.kind is not ChannelKind.API or recipe_of(channel).auth.type != "oauth2":
            fetch_request, echoes = self._request(channel, run_state, None, is_conditional=not is_trial)
            return await self._answer(_since(fetch_request, before) if before else fetch_request, echoes)
        auth = recipe_of(channel).auth
        while True:
            was_known = self.tokens.knows(auth)
            token = await self._token(recipe_of(channel))
            if not isinstance(token, Token):
                return token
            heard = await self._answer(*self._request(channel, run_state, token, is_conditional=not is_trial))
            if not isinstance(heard, Trouble) or heard.status != REFUSED:
                return heard
            self.tokens.drop(auth, token)
            if not was_known:
                return heard

    async def _answer(self, fetch_request: FetchRequest, echoes: Echoes | None) -> Heard:
        outcome = await self.follower.fetch(fetch_request)
        is_conditional = isinstance(outcome, Answered) and bool(fetch_request.conditions_at(outcome.response.url))
        return without_echoes(classify(outcome, is_conditional=is_conditional), echoes)

    async def _token(self, recipe: ApiRecipe) -> Token | Trouble | RobotsRefusal | Deferred:
        # A token opens what the secret opens: it goes nowhere else.
        require_bound(recipe.secret_names, recipe.url, self.secrets)
        asked = token_request(recipe.auth, self.secrets)
        return await self.tokens.token_for(recipe.auth, lambda: self._new_token(asked))

    async def _new_token(self, asked: ApiRequest) -> Token | Trouble | RobotsRefusal | Deferred:
        fetch_request = replace(_request_for(asked, has_secrets=True), body_bytes=LONGEST_ANSWER_BYTES)
        outcome = await self.follower.fetch(fetch_request)
        if isinstance(outcome, Answered) and outcome.response.status in NOT_THE_CLIENT:
            message = refusal_in(outcome.response.body, outcome.response.status)
            return Trouble(ErrorClass.FORBIDDEN, asked.echoes.masked(message), outcome.response.status)
        heard = without_echoes(classify(outcome, is_conditional=False), asked.echoes)
        match heard:
            case Trouble() | RobotsRefusal():
                return replace(heard, message=f"auth.token_url: {heard.message}")
            case Deferred():
                return heard
            case Body(response) | NotModified(response):
                found = token_in(response.body)
                return found if isinstance(found, Token) else Trouble(ErrorClass.UNREADABLE, found.why)

    def _request(
        self, channel: Leased, run_state: RunState, token: Token | None, *, is_conditional: bool
    ) -> tuple[FetchRequest, Echoes | None]:
        step = run_state.step
        validators = validators_for(channel, run_state) if is_conditional else Validators()
        etag, modified = validators.etag, validators.last_modified
        if step.reads_as is ChannelKind.API:
            fetch_request, echoes = self._api_request(channel, run_state, token)
            # An unchanged first page says nothing of the others, and a POST has no validators.
            is_all = recipe_of(channel).pagination.type == "none" and fetch_request.body is None
            return (replace(fetch_request, etag=etag, last_modified=modified) if is_all else fetch_request), echoes
        if step.url != channel.url.url and has_effects(canonicalise(step.url)):
            raise UsageError(f"{step.url[:200]} was not asked: it looks as if it did something when it is fetched.")
        validated, body_bytes = canonicalise(came_from(channel, run_state)), step.reads_as.traits.body_bytes
        fetch_request = FetchRequest(
            canonicalise(step.url), str(step.reads_as), etag, modified, validated, body_bytes=body_bytes
        )
        return fetch_request, None

    def _api_request(self, channel: Leased, run_state: RunState, token: Token | None) -> tuple[FetchRequest, Echoes]:
        """Secrets are filled in here and go no further: what is asked is neither stored nor logged."""
        recipe = recipe_of(channel)
        state = page_state_from(run_state.step.state or {})
        last = None if wants_all(channel) else channel.past.last_ok_at
        now = run_state.began_at or channel.now
        opened_by = None if token is None else token.value
        asked = request_for(recipe, state, last and last - OVERLAP, self.secrets, now, opened_by)
        return _request_for(asked, has_secrets=bool(recipe.secret_names)), asked.echoes


def _request_for(asked: ApiRequest, *, has_secrets: bool) -> FetchRequest:
    url = canonicalise(asked.url.get_secret_value())
    return FetchRequest(
        url,
        str(ChannelKind.API),
        headers={name: value.get_secret_value() for name, value in asked.headers.items()},
        method=asked.method,
        body=asked.sent_body,
        holds_secret=asked.echoes.are_in,
        is_only_inside=has_secrets and url.origin.scheme == "http",
    )


def _since(fetch_request: FetchRequest, heard: Body) -> FetchRequest:
    """The same, if it has changed since then."""
    validators = heard.response.validators
    return replace(
        fetch_request, etag=validators.etag, last_modified=validators.last_modified, validated=heard.response.url
    )


def without_echoes(heard: Heard, echoes: Echoes | None) -> Heard:
    """An API may repeat our key in whatever it says: masked before anybody reads, stores or shows it."""
    if not echoes:
        return heard
    match heard:
        case Body(response) | NotModified(response):
            return replace(heard, response=_masked(response, echoes))
        case Trouble(message=message) | RobotsRefusal(message=message):
            return replace(heard, message=echoes.masked(message))
        case Deferred(why=why, trouble=trouble):
            masked = trouble and replace(trouble, message=echoes.masked(trouble.message))
            return replace(heard, why=echoes.masked(why), trouble=masked)


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


def another_try(channel: Leased, run_state: RunState, heard: Heard) -> Deferred | None:
    """How long to wait for it, where what failed for the moment is tried again in the same run: as an API's recipe
    wants, and in a backfill, which would lose a part of the past.
    """
    if not isinstance(heard, Trouble):
        return None
    if channel.kind is ChannelKind.BACKFILL and (heard.is_passing or heard.error is ErrorClass.RATE_LIMITED):
        patience = wait_before_trying_again(run_state.step.tries, heard.retry_after)
        return None if patience is None else Deferred(patience, f"{heard.message}, tried again then")
    if channel.kind is not ChannelKind.API or not heard.is_passing:
        return None
    retry = recipe_of(channel).retry
    wait = retry.wait_after(run_state.step.tries) if retry else None
    return (
        None if wait is None else Deferred(max(wait, heard.retry_after), f"{heard.message}, tried again by its recipe")
    )


async def sitemaps_of(database: Database, site: CanonicalUrl) -> tuple[str, ...]:
    """What the robots.txt of a site names; it was read before the site was asked for anything."""
    rows = await database.fetch(queries.robots_sitemaps, site.bucket, site.host)
    own = [row["sitemaps"] for row in rows if Origin(row["scheme"], site.host, row["port"]).site == site.site]
    return tuple(dict.fromkeys(url for urls in own for url in urls))
