"""The request for one page of an API. Secrets are put in here, and are masked wherever a request is shown."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pydantic import SecretStr

from headwater.discover.api.pages import PageState, is_url
from headwater.discover.api.placeholders import filled, masked
from headwater.discover.api.recipe import ApiRecipe, Since
from headwater.discover.api.secrets import Echoes, Secrets, echoes_of, require_bound
from headwater.errors import UrlRejected, UsageError
from headwater.urls.canonical import canonicalise

Pairs = dict[str, str]


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """`shown_url` is for people and logs; `url` and the headers' values may hold secrets, `echoes` masks them."""

    url: SecretStr
    headers: Mapping[str, SecretStr]
    shown_url: str
    echoes: Echoes
    method: str = "GET"
    body: bytes = b""


def request_for(
    recipe: ApiRecipe, state: PageState, since: datetime | None, secrets: Secrets, now: datetime
) -> ApiRequest:
    """Raises UsageError, without any value in it, if a secret is missing, bound elsewhere or makes no valid request."""
    pairs = {**_query(recipe), **_since_pairs(recipe.since, since, now), **_page_pairs(recipe, state)}
    target = state.cursor if is_url(state.cursor) else recipe.url
    names = recipe.secret_names
    # The last look before a request: a recipe, and a cursor that was put away, may be older than a binding.
    require_bound(names, target, secrets)

    def fill(text: str) -> str:
        return filled(text, secrets)

    url = _url(target, pairs, fill)
    try:
        canonicalise(url)
    except UrlRejected as refusal:
        raise UsageError(f"The API mapping makes a URL that cannot be used: {refusal.what}") from None
    headers = {name: SecretStr(fill(text)) for name, text in _headers(recipe, fill).items()}
    values = [secrets[name].value.get_secret_value() for name in names]
    echoes = echoes_of(values, [_basic(recipe, fill)] if recipe.auth.type == "basic" else ())
    return ApiRequest(SecretStr(url), headers, _url(target, pairs, masked), echoes)


def _url(target: str, pairs: Pairs, fill: Callable[[str], str]) -> str:
    parts = urlsplit(target)
    own = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in pairs]
    query = urlencode([*own, *((name, fill(text)) for name, text in pairs.items())], safe="*")
    return urlunsplit(parts._replace(query=query, fragment=""))


def _query(recipe: ApiRecipe) -> Pairs:
    pairs = {name: _written(value) for name, value in recipe.query.items()}
    if recipe.auth.type == "query":
        pairs[recipe.auth.name or "api_key"] = recipe.auth.token
    return pairs


def _written(value: str | float) -> str:
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


def _since_pairs(wanted: Since | None, since: datetime | None, now: datetime) -> Pairs:
    if wanted is None or not wanted.enabled:
        return {}
    if since is None and wanted.fallback_days is None:
        return {}
    at = since or now - timedelta(days=wanted.fallback_days or 0)
    operator = {">": "gt", ">=": "gte", "=": "", "eq": ""}.get(wanted.operator, wanted.operator)
    name = f"{wanted.field}[{operator}]" if operator else wanted.field
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
    headers = {"Accept": "application/json", **recipe.headers}
    match auth.type:
        case "bearer":
            headers["Authorization"] = f"Bearer {auth.token}"
        case "header":
            headers[auth.name or "X-API-Key"] = auth.token
        case "basic":
            headers["Authorization"] = f"Basic {_basic(recipe, fill)}"
    return headers


def _basic(recipe: ApiRecipe, fill: Callable[[str], str]) -> str:
    both = f"{fill(recipe.auth.username)}:{fill(recipe.auth.password)}"
    return b64encode(both.encode()).decode()
