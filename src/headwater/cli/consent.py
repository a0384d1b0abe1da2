"""Asking a person before something is done that cannot be undone."""

import sys
from typing import Annotated

from cyclopts import Parameter

from headwater.cli.output import ask
from headwater.errors import UsageError

Yes = Annotated[bool, Parameter(negative="", help="Do not ask.")]


def require_consent(question: str, *, is_given: bool) -> None:
    """Where nobody can be asked, only a flag is consent."""
    if is_given:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{question} There is no terminal to ask at.", fix="Add --yes.")
    if ask(f"{question} [y/N]").strip().lower() not in ("y", "yes"):
        raise UsageError("Nothing was changed.")
