"""How to ask a JSON API and read its answers: a person's mapping (`parser_hint`), checked and compiled."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from headwater.discover.api.paths import Path, json_path_from, path_from
from headwater.discover.api.secrets import secrets_in
from headwater.errors import UrlRejected, UsageError
from headwater.urls.canonical import canonicalise
from headwater.urls.effects import has_effects

LONGEST_HINT = 20_000
LONGEST_DELAY = timedelta(days=1)
_VERSION_0 = {
    "jobs_path": "",
    "title_path": "title",
    "url_path": "url",
    "location_path": "location",
    "description_path": "description",
}
_AUTO_DATA = ("jobs", "results", "items", "data", "positions", "vacancies")
_ALWAYS = {
    "title": "title || name || position || job_title",
    "url": "url || link || apply_url || href || job_url",
}
_AUTO = {
    **_ALWAYS,
    "location": "location || location_name || city",
    "description": "description || summary || snippet",
    "author": "author.name || author || byline",
    "published_at": "published_at || posted_at || date_posted || published || created_at || date",
    "deadline": "deadline || closing_date || expires_at || valid_through",
}
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
# Ours to set: who asks, of whom, and how the connection is used.
_NOT_THEIRS = frozenset({"host", "user-agent", "content-length", "transfer-encoding", "connection", "cookie"})


def refusal_of(problem: ValidationError, model: type[BaseModel]) -> UsageError:
    first = problem.errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return unknown_key(place, keys_at(model, first["loc"][:-1]))
    return UsageError(f"The API mapping is wrong at {place}: {_lowered(first['msg'])}.")


def unknown_key(place: str, known: list[str]) -> UsageError:
    name = place.rpartition(".")[2]
    near = get_close_matches(name.lower(), known, n=1)
    fix = f"Did you mean {near[0]}?" if near else f"It may have {', '.join(known)}."
    return UsageError(f"The API mapping has no key {place[:80]}.", fix=fix)


def keys_at(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """The keys that may stand at a place inside the mapping."""
    for step in place:
        if field := model.model_fields.get(str(step)):
            model = next(_models_in(field.annotation), model)
    return sorted(model.model_fields)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _lowered(message: str) -> str:
    text = message.removeprefix("Value error, ").rstrip(".")
    return text[:1].lower() + text[1:]


class _RecipePart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True)


def _path(value: object) -> object:
    if value is None or isinstance(value, Path):
        return value
    if not isinstance(value, str):
        raise UsageError("An expression of the API mapping is not a text.")
    return path_from(value)


def _transform(value: object) -> object:
    named = {"first": {"first": True}, "join": {"join": ", "}}
    return named.get(value, value) if isinstance(value, str) else value


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


Expression = Annotated[Path, BeforeValidator(_path)]
Text = Annotated[str, Field(max_length=2_000)]


_CREDENTIAL = {"basic": "password", "oauth2": "client_secret"}


class Auth(_RecipePart):
    """`name` is the query parameter's or the header's; credentials are placeholders, never values.

    `oauth2` is the grant of client credentials: `client_as` says how the token's server is told who asks.
    """

    type: Literal["none", "query", "bearer", "header", "basic", "oauth2"] = "none"
    name: Text = ""
    token: Text = ""
    username: Text = ""
    password: Text = ""
    token_url: Text = ""
    client_id: Text = ""
    client_secret: Text = ""
    client_as: Literal["basic", "body"] = "basic"
    scope: Text = ""
    audience: Text = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        key = _CREDENTIAL.get(self.type, "token")
        if self.type != "none" and not secrets_in(getattr(self, key)):
            raise UsageError(
                f"auth.{key} of the API mapping names no secret.",
                fix="Write {{SECRET:NAME}} there and keep the value with the secrets; a mapping is stored and shown.",
            )
        if self.type == "oauth2":
            self._require_token_url()
        return self

    def _require_token_url(self) -> None:
        if not self.client_id:
            raise UsageError("auth.client_id of the API mapping is missing: oauth2 needs it.")
        try:
            place = canonicalise(self.token_url)
        except UrlRejected as refusal:
            raise UsageError(f"auth.token_url of the API mapping cannot be used: {refusal.what}") from None
        if secrets_in(self.token_url) or has_effects(place):
            raise UsageError("auth.token_url of the API mapping is no address of tokens.")

    @property
    def client_secret_names(self) -> frozenset[str]:
        """The secrets that the token's server is told."""
        return frozenset(secrets_in(self.client_id) + secrets_in(self.client_secret))


class Pagination(_RecipePart):
    type: Literal["none", "page", "offset", "cursor"] = "none"
    limit_param: Text = "limit"
    offset_param: Text = "offset"
    page_param: Text = "page"
    cursor_param: Text = "cursor"
    cursor_path: Expression | None = None
    first_page: int = Field(1, ge=0, le=1)
    page_size: int | None = Field(None, ge=1, le=10_000)
    max_pages: int = Field(10, ge=1, le=1_000)
    until_empty: bool = True

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.type == "cursor" and self.cursor_path is None:
            raise UsageError("pagination.cursor_path of the API mapping is missing: it says where the next cursor is.")
        if self.type == "offset" and self.page_size is None:
            raise UsageError("pagination.page_size of the API mapping is missing: an offset counts in it.")
        return self


class Since(_RecipePart):
    """Ask only for newer items. `format` is iso, date, unix, unix_ms or a strftime text."""

    field: Text
    enabled: bool = True
    format: Text = "iso"
    operator: Literal["", "=", "eq", "gt", "gte", ">", ">="] = ""
    fallback_days: int | None = Field(None, ge=0, le=3_650)


class Transform(_RecipePart):
    """The value of a list: its first one, or all of them joined."""

    first: bool = False
    join: Text | None = None


class Throttle(_RecipePart):
    enabled: bool = True
    requests_per_minute: float = Field(60, gt=0, le=6_000)
    burst: int = Field(1, ge=1)

    @property
    def delay(self) -> timedelta:
        """Between two requests. There are no bursts here: a host's delay is a promise."""
        return min(timedelta(minutes=1) / self.requests_per_minute, LONGEST_DELAY) if self.enabled else timedelta()


class Retry(_RecipePart):
    """A request that failed for the moment is asked again in the same run, after a wait that doubles."""

    max_retries: int = Field(2, ge=0, le=10)
    backoff_ms: int = Field(1_000, ge=0, le=3_600_000)

    def wait_after(self, tries: int) -> timedelta | None:
        """`tries` were made again already; None where that is enough."""
        return timedelta(milliseconds=self.backoff_ms * 2**tries) if tries < self.max_retries else None


class ApiRecipe(_RecipePart):
    """`params_in` says where page numbers, cursors and dates go: into the query, or into the body of a POST."""

    base_url: Text
    path: Text = ""
    method: Annotated[Literal["GET", "POST"], BeforeValidator(_upper)] = "GET"
    body: dict[str, Any] | None = None
    params_in: Literal["query", "body"] | None = None
    auth: Auth = Auth()
    headers: dict[Text, Text] = {}
    query: dict[Text, str | int | float | bool] = {}
    pagination: Pagination = Pagination()
    since: Since | None = None
    data_path: Expression | None = None
    map: dict[Text, Expression] = {}
    transforms: dict[Text, Annotated[Transform, BeforeValidator(_transform)]] = {}
    success_codes: tuple[Annotated[int, Field(ge=200, le=299)], ...] = tuple(range(200, 300))
    throttle: Throttle | None = None
    retry: Retry | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if secrets_in(self.base_url + self.path):
            raise UsageError("A secret cannot stand in base_url or path of the API mapping: they are shown to people.")
        try:
            home, place = canonicalise(self.base_url), canonicalise(self.url)
        except UrlRejected as refusal:
            raise UsageError(f"base_url of the API mapping cannot be used: {refusal.what}") from None
        if home.origin != place.origin:
            raise UsageError("path of the API mapping leads away from base_url.")
        for name, value in self.headers.items():
            _require_header(name, value)
        if self.method == "GET" and (self.body is not None or self.params_in == "body"):
            raise UsageError("A body of the API mapping needs the method POST.", fix='Write "method": "POST".')
        return self

    @property
    def url(self) -> str:
        return f"{self.base_url.rstrip('/')}/{self.path.lstrip('/')}" if self.path else self.base_url

    @property
    def has_params_in_body(self) -> bool:
        return self.method == "POST" and self.params_in != "query"

    @property
    def secret_names(self) -> frozenset[str]:
        """The secrets a request will need."""
        texts = (
            self.auth.token,
            self.auth.username,
            self.auth.password,
            self.auth.client_id,
            self.auth.client_secret,
            *self.headers.values(),
            *map(str, self.query.values()),
            json.dumps(self.body),
        )
        return frozenset(name for text in texts for name in secrets_in(text))


def recipe_from(hint: str | Mapping[str, Any] | None, url: str) -> ApiRecipe:
    """Version 0, version 1, or nothing at all: then the usual names are tried. Raises UsageError."""
    given = _mapping(hint)
    version = given.pop("v", 0 if given.keys() <= _VERSION_0.keys() else 1)
    if version not in (0, 1) or isinstance(version, bool):
        raise UsageError("The API mapping's version is unknown.", fix="v is 0 or 1.")
    parts = _version_1(given) if version == 1 else _version_0(given)
    try:
        return ApiRecipe.model_validate({"base_url": url, **parts})
    except ValidationError as problem:
        raise refusal_of(problem, ApiRecipe) from None


def auto_data_paths() -> tuple[Path, ...]:
    return tuple(map(path_from, _AUTO_DATA))


def _mapping(hint: str | Mapping[str, Any] | None) -> dict[str, Any]:
    given = (_read(hint) if hint.strip() else {}) if isinstance(hint, str) else (hint or {})
    if not isinstance(given, Mapping):
        raise UsageError("The API mapping is not a JSON object.")
    return dict(given)


def _read(hint: str) -> Any:
    if len(hint) > LONGEST_HINT:
        raise UsageError(f"The API mapping is longer than {LONGEST_HINT:,} characters.")
    try:
        return json.loads(hint)
    except (ValueError, RecursionError):
        raise UsageError("The API mapping is not valid JSON.") from None


def _version_0(given: dict[str, Any]) -> dict[str, Any]:
    for key, value in given.items():
        if key not in _VERSION_0:
            raise unknown_key(key, sorted(_VERSION_0))
        if not isinstance(value, str):
            raise UsageError(f"{key} of the API mapping is not a text.")
    jobs = given.get("jobs_path", "")
    named = {
        _VERSION_0[key]: json_path_from(_below(jobs, value))
        for key, value in given.items()
        if value and _VERSION_0[key]
    }
    parts: dict[str, Any] = {"map": {**_compiled(_AUTO), **named}}
    return {**parts, "data_path": json_path_from(jobs)} if jobs else parts


def _below(jobs: str, path: str) -> str:
    """Some write a field from the root, `$.jobs[*].title`, and mean the field of a job."""
    return path.removeprefix(jobs) if jobs and path.startswith(jobs + ".") else path


def _version_1(given: dict[str, Any]) -> dict[str, Any]:
    if not given.get("body"):
        # Written as null or {} where there is none.
        given.pop("body", None)
    own = given.get("map")
    if own is None or own == {}:
        return {**given, "map": _compiled(_AUTO)}
    return {**given, "map": {**_compiled(_ALWAYS), **own}} if isinstance(own, Mapping) else given


def _compiled(expressions: dict[str, str]) -> dict[str, Path]:
    return {name: path_from(text) for name, text in expressions.items()}


def _require_header(name: str, value: str) -> None:
    if not _HEADER_NAME.fullmatch(name) or name.lower() in _NOT_THEIRS or not value.isprintable():
        raise UsageError(f"The API mapping may not send the header {name[:64]!r}.")
    if name.lower() == "authorization" and not secrets_in(value):
        raise UsageError("The Authorization header of the API mapping names no secret.", fix="Use auth instead.")
