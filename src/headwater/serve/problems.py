"""Errors as programs read them: problem+json, with the sentence, the way on, and the shape that older systems know."""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from headwater.accounts.attempts import TooManyAttempts
from headwater.deliver.pulling import PositionGone
from headwater.errors import Busy, DependencyDown, HeadwaterError, NotFound, Outdated, QueryFailed, Refused, UsageError
from headwater.masking import Mode, error_in_words
from headwater.serve.access.caller import NotIdentified
from headwater.serve.places import TooMany

MEDIA_TYPE = "application/problem+json"
_MEMBER = re.compile(r"<\w+\.\w+: ('[^']*')>")
MOST_FIELDS_TOLD = 20
# The first that fits holds.
STATUSES: tuple[tuple[type[HeadwaterError], int, str], ...] = (
    (PositionGone, 410, "gone"),
    (NotFound, 404, "not_found"),
    (UsageError, 422, "invalid"),
    (NotIdentified, 401, "unauthorised"),
    (TooManyAttempts, 429, "too_many"),
    (Refused, 403, "refused"),
    (TooMany, 429, "too_many"),
    (Outdated, 412, "outdated"),
    (Busy, 409, "busy"),
    (DependencyDown, 503, "unavailable"),
    (QueryFailed, 500, "fault"),
    (HeadwaterError, 500, "fault"),
)
WORDS = {401: "unauthorised", 404: "not_found", 405: "wrong_method", 413: "too_large", 415: "wrong_type"}
# PostgreSQL's words for a NUL in a text, and in JSON.
UNKEPT_SIGNS = frozenset({"22021", "22P05"})
# How a caller may show who it is (RFC 6750).
CHALLENGE: Mapping[str, str] = {"www-authenticate": "Bearer"}


class ErrorInShort(BaseModel):
    """The same once more, as systems before this one tell it."""

    code: str
    message: str


class FieldProblem(BaseModel):
    """One field of a request that was not understood."""

    field: str = Field(examples=["query.limit"])
    problem: str = Field(examples=["Input should be less than or equal to 1000"])


class ProblemDetails(BaseModel):
    """Why a request was not carried out, and what to do about it (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(examples=["urn:headwater:problem:not_found"])
    title: str = Field(description="The status in words.", examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(description="What happened.", examples=["There is no view 'boats'."])
    fix: str = Field("", description="What to do about it.", examples=["`headwater views list` shows those there are."])
    request_id: str = Field("", description="Under which the log of the web role tells of it.")
    fields: list[FieldProblem] = Field(default_factory=list, description="Fields that were not understood.")
    error: ErrorInShort


def status_of_page(error: HeadwaterError) -> int:
    """Of a page that shows the error beside the fields it came from: nobody's mistake, or of who filled them in."""
    return 503 if isinstance(error, DependencyDown) else 422


def problem_of(error: HeadwaterError, mode: Mode) -> ProblemDetails:
    if isinstance(error, QueryFailed) and error.sqlstate in UNKEPT_SIGNS:
        return problem(422, "A text holds a sign that no text may hold, such as NUL.", "Leave it out.")
    status, code = next((status, code) for kind, status, code in STATUSES if isinstance(error, kind))
    return problem(status, error_in_words(error, mode), error.fix, code=code)


def problem(
    status: int, detail: str, fix: str = "", *, code: str = "", fields: Sequence[FieldProblem] = ()
) -> ProblemDetails:
    code = code or WORDS.get(status, "invalid" if status < 500 else "fault")
    return ProblemDetails(
        type=f"urn:headwater:problem:{code}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        fix=fix,
        fields=list(fields),
        error=ErrorInShort(code=code, message=detail),
    )


def problem_of_fields(error: RequestValidationError) -> ProblemDetails:
    if isinstance(error.body, bytes):
        return problem(422, "The body is not read as JSON.", "Send it with the header content-type: application/json.")
    if broken := next((one for one in error.errors() if one["type"] == "json_invalid"), None):
        why = broken.get("ctx", {}).get("error", "it breaks off")
        return problem(422, f"The body is no JSON: {why}, at character {broken['loc'][-1]}.", "Send one JSON object.")
    fields = [
        FieldProblem(field=".".join(str(part) for part in one["loc"])[:200], problem=_said_of_field(str(one["msg"])))
        for one in error.errors()[:MOST_FIELDS_TOLD]
    ]
    first = f"{fields[0].field}: {fields[0].problem}" if fields else "The request was not understood."
    return problem(422, first, "The page /api/docs describes every field.", fields=fields)


def _said_of_field(message: str) -> str:
    """With the values of an enumeration as they are written, not as Python names them."""
    return _MEMBER.sub(r"\1", message)[:300]


def problem_of_http(error: HTTPException) -> ProblemDetails:
    """Of the framework: no such route, another method, a body that is no JSON."""
    sentences = {404: "There is no such address.", 405: "This address does not take that method."}
    told = sentences.get(error.status_code, str(error.detail))
    return problem(error.status_code, told, "The page /api/docs lists every address.")


def headers_of(error: Exception) -> Mapping[str, str]:
    """What an answer says beside its body."""
    match error:
        case HTTPException():
            return error.headers or {}
        case NotIdentified():
            return CHALLENGE
        case TooMany():
            return error.headers
        case TooManyAttempts():
            return {"retry-after": f"{error.wait.total_seconds():.0f}"}
    return {}


def fault() -> ProblemDetails:
    """Nobody foresaw it: its message may quote a page or a row."""
    return problem(500, "A fault of Headwater's own.", "The log of the web role tells it by this request_id.")


def response_of(found: ProblemDetails, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    found.request_id = request_id
    body: dict[str, Any] = found.model_dump(exclude_defaults=True)
    return Response(orjson.dumps(body), found.status, dict(headers or {}), MEDIA_TYPE)
