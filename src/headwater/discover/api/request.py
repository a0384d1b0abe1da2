"""The request for one page of an API. Secrets are put in here, and are masked wherever a request is shown."""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import orjson
from pydantic import SecretStr

from headwater.discover.api.pages import PageState, is_url
from headwater.discover.api.recipe import ApiRecipe, Auth
from headwater.discover.api.secrets import (
    Echoes,
    Secrets,
    echoes_of,
    fill_placeholders,
    mask_placeholders,
    require_bound,
)
from headwater.errors import UrlRejected, UsageError
from headwater.net.media_type import media_type
from headwater.urls.canonical import canonicalise

Pairs = dict[str, str]
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """`shown_url` is for people and logs; `url` and the headers' values may hold secrets, `echoes` masks them."""

    url: SecretStr
    headers: Mapping[str, SecretStr]
    shown_url: str
    echoes: Echoes
    method: str = "GET"
    body: SecretStr | None = None

    @property
    def sent_body(self) -> bytes | None:
        return None if self.body is None else self.body.get_secret_value().encode()


def request_for(
    recipe: ApiRecipe,
    state: PageState,
    since: datetime | None,
    secrets: Secrets,
    now: datetime,
    token: SecretStr | None = None,
) -> ApiRequest:
    """Raises UsageError, without any value in it, if a secret is missing, bound elsewhere or makes no valid request.

    `token` is the access token, where the recipe wants one.
    """
    asked = {**_since_pairs(recipe, since, now), **_page_pairs(recipe, state)}
    in_query, in_body = ({}, asked) if recipe.has_params_in_body else (asked, {})
    target = state.cursor if is_url(state.cursor) else recipe.url
    names = recipe.secret_names
    # The last look before a request: a recipe, and a cursor that was put away, may be older than a binding.
    require_bound(names, target, secrets)

    def fill(text: str) -> str:
        # For the recipe's own texts only: a cursor is the server's word, and may look like the name of a secret.
        return fill_placeholders(text, secrets)

    url = _url(target, _query(recipe, fill) | in_query)
    try:
        canonicalise(url)
    except UrlRejected as refusal:
        raise UsageError(f"The API mapping makes a URL that cannot be used: {refusal.what}") from None
    bearer = token.get_secret_value() if token else ""
    headers = {name: SecretStr(fill(text)) for name, text in _headers(recipe, fill).items()}
    if bearer:
        headers["Authorization"] = SecretStr(f"Bearer {bearer}")
    values = [*(secrets[name].value.get_secret_value() for name in names), bearer]
    echoes = echoes_of(values, [_basic(recipe.auth, fill)] if recipe.auth.type == "basic" else ())
    body = _body(recipe, in_body, fill) if recipe.method == "POST" else None
    shown_url = _url(target, _query(recipe, mask_placeholders) | in_query)
    return ApiRequest(SecretStr(url), headers, shown_url, echoes, recipe.method, body)


def _body(recipe: ApiRecipe, asked: Pairs, fill: Callable[[str], str]) -> SecretStr:
    """JSON, or a form where the recipe's headers say so. `a.b` names a value inside of an object."""
    if _is_form(recipe):
        fields = {name: fill(_written(value)) for name, value in (recipe.body or {}).items()}
        return SecretStr(urlencode({**fields, **asked}))
    body = _filled(recipe.body or {}, fill)
    for name, text in asked.items():
        put_value(body, name.split("."), text)
    return SecretStr(orjson.dumps(body).decode())


def put_value(body: dict[str, Any], way: Sequence[str], text: str) -> None:
    """Digits are a number in JSON, unless the recipe has a text in that place."""
    *above, name = way
    for step in above:
        inner = body.get(step)
        body = body.setdefault(step, {}) if not isinstance(inner, dict) else inner
        if not isinstance(body, dict):
            raise UsageError(f"The body of the API mapping has no object {step} to put {name} into.")
    is_number = text.isascii() and text.isdigit() and not isinstance(body.get(name), str)
    body[name] = int(text) if is_number else text


def _filled(value: Any, fill: Callable[[str], str]) -> Any:
    match value:
        case str():
            return fill(value)
        case dict():
            return {name: _filled(inner, fill) for name, inner in value.items()}
        case list():
            return [_filled(inner, fill) for inner in value]
        case _:
            return value


def _content_type(recipe: ApiRecipe) -> str:
    return next((value for name, value in recipe.headers.items() if name.lower() == "content-type"), JSON)


def _is_form(recipe: ApiRecipe) -> bool:
    return media_type(_content_type(recipe)) == FORM


def _url(target: str, pairs: Pairs) -> str:
    parts = urlsplit(target)
    own = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in pairs]
    query = urlencode([*own, *pairs.items()], safe="*")
    return urlunsplit(parts._replace(query=query, fragment=""))


def _query(recipe: ApiRecipe, fill: Callable[[str], str]) -> Pairs:
    pairs = {name: _written(value) for name, value in recipe.query.items()}
    if recipe.auth.type == "query":
        pairs[recipe.auth.name or "api_key"] = recipe.auth.token
    return {name: fill(text) for name, text in pairs.items()}


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _page_pairs(recipe: ApiRecipe, state: PageState) -> Pairs:
    pagination = recipe.pagination
    if pagination.type == "none" or is_url(state.cursor):
        return {}
    pairs = {} if pagination.page_size is None else {pagination.limit_param: str(pagination.page_size)}
    match pagination.type:
        case "page":
            pairs[pagination.page_param] = str(pagination.first_page + state.index)
        case "offset":
            pairs[pagination.offset_param] = str(state.index * (pagination.page_size or 0))
        case _ if state.cursor:
            pairs[pagination.cursor_param] = state.cursor
    return pairs


def _since_pairs(recipe: ApiRecipe, since: datetime | None, now: datetime) -> Pairs:
    wanted = recipe.since
    if wanted is None or not wanted.enabled:
        return {}
    if since is None and wanted.fallback_days is None:
        return {}
    at = since or now - timedelta(days=wanted.fallback_days or 0)
    operator = {">": "gt", ">=": "gte", "=": "", "eq": ""}.get(wanted.operator, wanted.operator)
    inside = f"{wanted.field}.{operator}" if recipe.has_params_in_body else f"{wanted.field}[{operator}]"
    name = inside if operator else wanted.field
    return {name: _formatted(at.astimezone(UTC), wanted.format)}


def _formatted(at: datetime, form: str) -> str:
    match form:
        case "iso" | "iso8601":
            return at.strftime("%Y-%m-%dT%H:%M:%SZ")
        case "date":
            return at.strftime("%Y-%m-%d")
        case "unix":
            return str(int(at.timestamp()))
        case "unix_ms":
            return str(int(at.timestamp() * 1000))
        case _:
            return at.strftime(form)


def _headers(recipe: ApiRecipe, fill: Callable[[str], str]) -> Pairs:
    auth = recipe.auth
    headers = {"Accept": JSON, **recipe.headers}
    if recipe.method == "POST":
        headers = {name: text for name, text in headers.items() if name.lower() != "content-type"}
        headers["Content-Type"] = _content_type(recipe)
    match auth.type:
        case "bearer":
            headers["Authorization"] = f"Bearer {auth.token}"
        case "header":
            headers[auth.name or "X-API-Key"] = auth.token
        case "basic":
            headers["Authorization"] = f"Basic {_basic(auth, fill)}"
    return headers


def _basic(auth: Auth, fill: Callable[[str], str]) -> str:
    return basic_credentials(fill(auth.username), fill(auth.password))


def basic_credentials(name: str, password: str) -> str:
    return b64encode(f"{name}:{password}".encode()).decode()
