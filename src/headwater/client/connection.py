"""One request of the client: sent, sent again where that is safe, and its answer or its problem."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from threading import Event
from typing import Any, NoReturn
from urllib.parse import quote, urlencode

import orjson

from headwater.chance import new_id
from headwater.client.problems import ServerAway, problem_from
from headwater.client.wire import TROUBLE, Wire, WireAnswer, WireRequest
from headwater.clock import SystemClock

JSON = "application/json"
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.25, 8.0
TOO_MANY, AWAY, BUSY = 429, 503, 409
MULTIPLE_CHOICES, BAD_REQUEST = 300, 400


def pause(seconds: float) -> None:
    Event().wait(seconds)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long answers are waited for: `timeout` for each, `retry_for` for all that one call takes."""

    timeout: float = 30.0
    retry_for: float = 60.0
    sleep: Callable[[float], None] = pause
    now: Callable[[], float] = SystemClock().monotonic


@dataclass(slots=True)
class Attempts:
    """Of one request. `is_repeatable`: reading, or kept by the server under a key."""

    patience: Patience
    is_repeatable: bool
    began: float
    made: int = 0
    has_lost_one: bool = False

    def is_worth_another(self, answer: WireAnswer) -> bool:
        """429 was not looked at; 409 after a lost answer is our own request, still under way."""
        is_passing = answer.status == AWAY or (answer.status == BUSY and self.has_lost_one)
        return answer.status == TOO_MANY or (self.is_repeatable and is_passing)

    def wait(self, asked: float = 0.0) -> bool:
        """False: no time is left. `asked` are the seconds that the server asks for."""
        ours = min(FIRST_PAUSE_SECONDS * 2**self.made, LONGEST_PAUSE_SECONDS)
        seconds = max(ours, asked)
        if self.patience.now() - self.began + seconds > self.patience.retry_for:
            return False
        self.made = min(self.made + 1, 16)
        self.patience.sleep(seconds)
        return True


class Connection:
    """The way to one server; the calls of the API are methods of what is made of it."""

    def __init__(self, address: str, token: str = "", patience: Patience = Patience()) -> None:  # noqa: B008 - frozen
        self._patience = patience
        self._wire = Wire(address, patience.timeout)
        self._own_headers = {"accept": "application/json, */*", "user-agent": "headwater-client"}
        if token:
            self._own_headers["authorization"] = f"Bearer {token}"

    def close(self) -> None:
        """Give up connections that are kept for the next call."""
        self._wire.close()

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        media_type: str = JSON,
        is_kept: bool = False,
        if_match: str | None = None,
    ) -> Any:
        """The answer, read as JSON; None where it has no body. `is_kept`: it may be sent again under its key."""
        request = self._request(method, path, query or {}, body, media_type, is_kept=is_kept)
        if if_match is not None:
            tag = if_match if if_match.startswith(("W/", '"', "*")) else f'"{if_match}"'
            request = replace(request, headers={**request.headers, "if-match": tag})
        answer = self._answer(request, is_repeatable=method == "GET" or is_kept)
        try:
            return orjson.loads(answer.body) if answer.body else None
        except orjson.JSONDecodeError as error:
            raise ServerAway(
                f"{self._wire.address} answered with something that is no JSON.", fix="Is it the address of Headwater?"
            ) from error

    def _stream(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        media_type: str = JSON,
        is_kept: bool = False,
    ) -> Iterator[bytes]:
        """The body as it comes. It is asked for once: half of it twice would be no use."""
        request = self._request(method, path, query or {}, body, media_type, is_kept=is_kept)
        try:
            answer, chunks = self._wire.stream(request)
        except TROUBLE as error:
            self._give_up(error)
        if answer.status >= MULTIPLE_CHOICES:
            raise problem_from(answer.status, answer.headers, b"".join(chunks))
        return chunks

    def _each(self, field: str, page_after: Callable[[str | None], Any]) -> Iterator[Any]:
        """The items of all pages. A server that names the same place twice is not asked for ever."""
        cursor: str | None = None
        while True:
            page = page_after(cursor)
            yield from page[field]
            following = page["cursor"]
            if not following or following == cursor:
                return
            cursor = following

    def _request(
        self, method: str, path: str, query: Mapping[str, object], body: object, media_type: str, *, is_kept: bool
    ) -> WireRequest:
        headers = dict(self._own_headers)
        sent = body if isinstance(body, bytes | None) else orjson.dumps(body, default=str)
        if sent is not None:
            headers["content-type"] = media_type
        if is_kept:
            headers["idempotency-key"] = str(new_id())
        return WireRequest(method, path + in_query(query), headers, sent)

    def _answer(self, request: WireRequest, *, is_repeatable: bool) -> WireAnswer:
        attempts = Attempts(self._patience, is_repeatable, self._patience.now())
        while True:
            try:
                answer = self._wire.send(request)
            except TROUBLE as error:
                # Where nobody listens nothing was done.
                if not (is_repeatable or isinstance(error, ConnectionRefusedError)) or not attempts.wait():
                    self._give_up(error)
                attempts.has_lost_one = True
                continue
            if answer.status < MULTIPLE_CHOICES:
                return answer
            if not attempts.is_worth_another(answer) or not attempts.wait(seconds_in(answer)):
                raise problem_from(answer.status, answer.headers, answer.body)

    def _give_up(self, error: BaseException) -> NoReturn:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ServerAway(
            f"{self._wire.address} does not answer: {why}.", fix="`headwater up` and `headwater run web` serve the API."
        ) from error


def seconds_in(answer: WireAnswer) -> float:
    """That the server asks to be left alone for."""
    asked = answer.headers.get("retry-after", "")
    return float(asked) if asked.isdigit() and len(asked) < 6 else 0.0


def in_path(value: object) -> str:
    """A value as one part of a path."""
    return quote(str(value), safe="", errors="replace")


def in_query(query: Mapping[str, object]) -> str:
    """None is left out; of a list each."""
    given = {name: _texts(value) for name, value in query.items() if value is not None}
    return f"?{urlencode(given, doseq=True, errors='replace')}" if given else ""


def _texts(value: object) -> str | list[str]:
    match value:
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return [str(_texts(one)) for one in value]
        case datetime() | date():
            return value.isoformat()
    return str(value)
