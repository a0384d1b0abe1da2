"""What requests bring: texts that can be kept, bodies without unknown fields, moments that are known everywhere."""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, model_validator

# Deeper objects are nobody's selectors.
DEEPEST = 20


def require_keepable(text: str) -> str:
    """PostgreSQL keeps neither NUL nor half a character."""
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ValueError("holds a character that cannot be stored")
    return text


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is too far away") from None


KeptText = Annotated[str, AfterValidator(require_keepable)]
Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]


class StrictBody(BaseModel):
    """A field that is not known, or a text that cannot be kept, is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _require_keepable(cls, said: Any) -> Any:
        require_keepable_parts(said)
        return said


def require_keepable_parts(value: object, depth: int = 0) -> None:
    if depth > DEEPEST:
        raise ValueError("is nested too deeply")
    if isinstance(value, str):
        require_keepable(value)
    elif isinstance(value, dict):
        for name, inner in value.items():
            require_keepable_parts(name, depth + 1)
            require_keepable_parts(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            require_keepable_parts(inner, depth + 1)
