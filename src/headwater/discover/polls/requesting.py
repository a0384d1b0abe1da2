"""The web's side of a step: the request through the one fetch path, and the meaning of its answer for a poll.

Answers to a search for channels are kept for the first polls of the channels it found, so that nothing is asked twice:
an answer goes with its new channel's row, whole. The first poll takes it from there, in whatever process, and an answer
of "not modified" loses none of its items.
"""

import re
import zlib
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from multidict import CIMultiDict

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.api.pages import page_state_from
from headwater.discover.api.recipe import ApiRecipe, recipe_from
from headwater.discover.api.request import ApiRequest, request_for
from headwater.discover.api.secrets import Echoes, SecretRefused, Secrets, require_bound
from headwater.discover.api.tokens import LONGEST_ANSWER_BYTES, Token, Tokens, refusal_in, token_in, token_request
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.polls.backfill import wait_before_trying_again
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.run_state import OVERLAP, RunState, came_from, validators_for, wants_all
from headwater.errors import UrlRejected, UsageError
from headwater.fetch.fetcher import FetchRequest, Follower
from headwater.fetch.held_slot import wait_asked_for
from headwater.fetch.outcomes import (
    Answered,
    BadRedirect,
    Disallowed,
    Failed,
    FetchOutcome,
    Later,
    LeaseLost,
    LedAway,
    RobotsUnknown,
    TakenDown,
    status_with_price,
)
from headwater.net.body import Complete
from headwater.net.problems import FetchProblem, Problem, problem_with
from headwater.net.redirects import flaw_in_words
from headwater.net.transport import Response
from headwater.net.validators import Validators
from headwater.sources.causes import ErrorCause
from headwater.sources.kinds import ChannelKind
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.effects import has_effects
from headwater.urls.origin import Origin

AGAIN_SOON = timedelta(seconds=5)
PAYMENT_REQUIRED = 402
WAIT_AFTER_PRICE = timedelta(days=1)
REFUSALS = frozenset({401, 402, 403, 407, 451})
CAUSES = {
    Problem.BLOCKED_ADDRESS: ErrorCause.PRIVATE_ADDRESS,
    Problem.DNS_NOT_FOUND: ErrorCause.DEAD_DOMAIN,
}
_PROBLEM = re.compile(r"\((\w+): ")
UNREADABLE = frozenset({Problem.BAD_RESPONSE, Problem.HEADER_LIMIT, Problem.TOO_LARGE, Problem.BAD_ENCODING})

KEPT_FOR = timedelta(minutes=10)
MOST_BYTES = 32 * 1024 * 1024
# Larger answers are asked for again: a row is read and written with every poll.
MOST_PACKED_BYTES = 1024 * 1024
HEARD = "heard"

queries = load_queries("headwater.discover")

REFUSED = 401
# A token's server does not take the client, or the request (RFC 6749, 5.2).
NOT_THE_CLIENT = frozenset({400, 401, 403})


@dataclass(frozen=True, slots=True)
class Body:
    """`moved_to`: where an unbroken run of permanent redirects led, if any."""

    response: Response
    moved_to: CanonicalUrl | None = None
    sitemaps: tuple[str, ...] = ()  # that robots.txt names, where a search wants to know
    is_from_cache: bool = False  # it was the answer to a search, and cost no request


@dataclass(frozen=True, slots=True)
class NotModified:
    response: Response
    moved_to: CanonicalUrl | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    error: ErrorClass
    message: str
    status: int | None = None
    retry_after: timedelta = timedelta()
    is_deadly: bool = False  # it ended the process that read it, or the one that polled
    robots_wait: timedelta = timedelta()  # until robots.txt may be asked for again
    cause: ErrorCause | None = None

    @property
    def is_passing(self) -> bool:
        """Whether the same request may well succeed in a moment."""
        is_servers = self.error is ErrorClass.UPSTREAM and (self.status or 0) >= 500
        return is_servers or self.error is ErrorClass.NETWORK


@dataclass(frozen=True, slots=True)
class RobotsRefusal:
    message: str

    @property
    def cause(self) -> ErrorCause:
        return ErrorCause.ROBOTS_FORBID


@dataclass(frozen=True, slots=True)
class Deferred:
    """The run stops here and goes on later: no slot soon, no robots.txt now, a closed time window.

    `trouble` is the channel's error that keeps a run from beginning, where there is one.
    """

    wait: timedelta
    why: str
    trouble: Trouble | None = None


ChannelAnswer = Body | NotModified | Trouble | RobotsRefusal | Deferred


def classify(outcome: FetchOutcome, *, is_conditional: bool) -> ChannelAnswer:
    match outcome:
        case Answered(response, _, permanent):
            return _heard_answer(response, permanent.target, is_conditional=is_conditional)
        case Disallowed(url, decision):
            # Without the query, which may hold an API's key.
            path = url.target.partition("?")[0]
            return RobotsRefusal(f"{path}: line {decision.line_number} of robots.txt, {decision.rule_text}")
        case TakenDown(url):
            return Trouble(ErrorClass.FORBIDDEN, f"{url.host} is on the takedown list")
        case RobotsUnknown():
            return _without_robots(outcome)
        case Later(wait, url, _, why):
            return Deferred(wait, f"{url.host}: {why}")
        case LeaseLost():
            return Deferred(AGAIN_SOON, "its place at the host was lost")
        case BadRedirect(reason, _, response):
            why = f"a redirect that leads nowhere: {flaw_in_words(reason)}"
            return Trouble(ErrorClass.UPSTREAM, why, response.status)
        case LedAway(to, _, response):
            return Trouble(ErrorClass.UPSTREAM, f"redirected to {to.host}", response.status)
        case Failed(problem):
            return _heard_problem(problem)


def _without_robots(unknown: RobotsUnknown) -> Deferred:
    wait, why, status = unknown.wait, unknown.why, unknown.status
    error = ErrorClass.NETWORK if status is None else ErrorClass.UPSTREAM
    cause = next((CAUSES[one] for one in problems_behind(why) if one in CAUSES), ErrorCause.ROBOTS_UNREACHABLE)
    trouble = None if unknown.is_asked else Trouble(error, why, status, robots_wait=wait, cause=cause)
    return Deferred(wait, why, trouble)


def problems_behind(why_no_robots: str) -> list[Problem]:
    """Of a robots.txt that could not be had: stored with its host, they are known as text only."""
    return [Problem(word) for word in _PROBLEM.findall(why_no_robots) if word in set(Problem)]


def is_no_page(heard: ChannelAnswer) -> bool:
    """Its host answers, only not with this page. One that fails, or was asked too often, is asked nothing more."""
    if not isinstance(heard, Trouble) or heard.error is ErrorClass.RATE_LIMITED:
        return False
    return 400 <= (heard.status or 0) < 500


def _heard_answer(response: Response, moved_to: CanonicalUrl | None, *, is_conditional: bool) -> ChannelAnswer:
    status = response.status
    if status == 304:
        if is_conditional:
            return NotModified(response, moved_to)
        return Trouble(ErrorClass.UNREADABLE, "HTTP 304 to a request without validators", status)
    if 200 <= status < 300:
        if problem := problem_with(response.content):
            return _heard_problem(problem, status)
        return Body(response, moved_to)
    # A price is an answer: it will be the same before tomorrow.
    wait = WAIT_AFTER_PRICE if status == PAYMENT_REQUIRED else wait_asked_for(response) or timedelta()
    return Trouble(_class_of(status), status_with_price(response), status, wait)


def _class_of(status: int) -> ErrorClass:
    named = {404: ErrorClass.NOT_FOUND, 410: ErrorClass.GONE, 429: ErrorClass.RATE_LIMITED}
    if status in named:
        return named[status]
    return ErrorClass.FORBIDDEN if status in REFUSALS else ErrorClass.UPSTREAM


def _heard_problem(problem: FetchProblem, status: int | None = None) -> Trouble:
    message = f"{problem.kind}: {problem.detail}" if problem.detail else str(problem.kind)
    cause = CAUSES.get(problem.kind)
    if problem.kind is Problem.BLOCKED_ADDRESS:
        return Trouble(ErrorClass.FORBIDDEN, message, cause=cause)
    error = ErrorClass.UNREADABLE if problem.kind in UNREADABLE else ErrorClass.NETWORK
    return Trouble(error, message, status, cause=cause)


@dataclass(slots=True)
class ResponseCache:
    """Until the search is over, and only in this process."""

    clock: Clock
    _bodies: OrderedDict[bytes, tuple[float, Body]] = field(default_factory=OrderedDict)
    _bytes: int = 0

    def keep(self, heard: Body) -> None:
        """By where the answer came from, which is where a channel is made."""
        place = heard.response.url.url_hash
        self._drop(place)
        self._bodies[place] = (self.clock.monotonic(), replace(heard, moved_to=None, sitemaps=(), is_from_cache=True))
        self._bytes += len(heard.response.body)
        while self._bytes > MOST_BYTES:
            self._drop(next(iter(self._bodies)))

    def heard_at(self, place: bytes) -> Body | None:
        since, heard = self._bodies.get(place, (float("-inf"), None))
        return heard if self.clock.monotonic() - since <= KEPT_FOR.total_seconds() else None

    def forget(self, place: bytes) -> None:
        """Once its channel has it: later requests are new ones."""
        self._drop(place)

    def _drop(self, place: bytes) -> tuple[float, Body] | None:
        kept = self._bodies.pop(place, None)
        if kept is not None:
            self._bytes -= len(kept[1].response.body)
        return kept


def pack_response(heard: Body) -> dict[str, Any] | None:
    """As a new channel keeps it for its first poll; None for an answer that is too large."""
    response = heard.response
    body = zlib.compress(response.body)
    if len(body) > MOST_PACKED_BYTES:
        return None
    said = {
        "url": response.url.url,
        "status": response.status,
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in response.raw_headers],
        "body": b64encode(body).decode(),
        "at": response.at.isoformat(),
        "asked_as": response.asked_as,
    }
    return {HEARD: said}


def cached_response(progress: object) -> Body | None:
    """The answer that a channel was given with its row; None where there is nothing, or nothing that we wrote."""
    said = progress.get(HEARD) if isinstance(progress, Mapping) else None
    try:
        return Body(_response_from(said), is_from_cache=True) if said else None
    except (AttributeError, KeyError, TypeError, ValueError, UrlRejected, zlib.error):
        return None


def is_fresh(heard: Body, now: datetime) -> bool:
    return now - heard.response.at <= KEPT_FOR


def _response_from(said: Any) -> Response:
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in said["headers"]]
    body = zlib.decompressobj().decompress(b64decode(said["body"]), MOST_BYTES)
    return Response(
        url=canonicalise(said["url"]),
        status=said["status"],
        headers=CIMultiDict(said["headers"]),
        raw_headers=raw,
        content=Complete(body),
        duration=timedelta(),
        is_reused=False,
        address=None,
        at=datetime.fromisoformat(said["at"]),
        asked_as=said["asked_as"],
    )


@dataclass(frozen=True, slots=True)
class Asker:
    follower: Follower
    database: Database
    response_cache: ResponseCache
    tokens: Tokens
    secrets: Secrets = field(default_factory=dict, repr=False)

    async def ask(self, channel: Leased, run_state: RunState, *, is_trial: bool = False) -> ChannelAnswer:
        """A trial asks without validators: an answer of "not modified" cannot be shown."""
        is_first_poll = run_state.is_first_step and channel.past.last_ok_at is None and not is_trial
        before = cached_response(channel.progress) if is_first_poll and channel.kind.traits.is_found else None
        if before and is_fresh(before, channel.now):
            return before
        try:
            heard = await self._heard(channel, run_state, before, is_trial=is_trial)
        except UsageError as error:
            # A recipe without its secret, or a step that is no URL: nothing to be asked.
            cause = ErrorCause.SECRET if isinstance(error, SecretRefused) else None
            return Trouble(ErrorClass.UNREADABLE, error.what, cause=cause)
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

    async def _heard(
        self, channel: Leased, run_state: RunState, before: Body | None, *, is_trial: bool
    ) -> ChannelAnswer:
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

    async def _answer(self, fetch_request: FetchRequest, echoes: Echoes | None) -> ChannelAnswer:
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
            case RobotsRefusal():
                return replace(heard, message=f"auth.token_url: {heard.message}")
            case Trouble():
                # The cause would be told of the channel's own host.
                return replace(heard, message=f"auth.token_url: {heard.message}", cause=None)
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
        """Secrets are filled in here and go no further: the request is neither stored nor logged."""
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


def without_echoes(heard: ChannelAnswer, echoes: Echoes | None) -> ChannelAnswer:
    """An API may repeat our key in its answer: masked before it is read, stored or shown."""
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


def another_try(channel: Leased, run_state: RunState, heard: ChannelAnswer) -> Deferred | None:
    """The wait before a request that failed for the moment is tried again in the same run: as an API's recipe
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
    """The sitemaps that the robots.txt of a site names; it was read before the site was asked for anything."""
    rows = await database.fetch(queries.robots_sitemaps, site.bucket, site.host)
    own = [row["sitemaps"] for row in rows if Origin(row["scheme"], site.host, row["port"]).site == site.site]
    return tuple(dict.fromkeys(url for urls in own for url in urls))
