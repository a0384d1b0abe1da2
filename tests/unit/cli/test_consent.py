"""Consent where somebody can be asked, and progress where somebody watches."""

import sys
from io import StringIO

import pytest

from headwater.cli.consent import require_consent
from headwater.cli.progress import counting
from headwater.errors import UsageError


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("answer", ["y\n", "YES\n"])
def test_only_a_yes_is_consent(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", shown := StringIO())
    require_consent("Delete Alpha?", is_given=False)
    assert shown.getvalue() == "Delete Alpha? [y/N] "


@pytest.mark.parametrize("answer", ["\n", "n\n", "yesterday\n", ""])
def test_anything_else_changes_nothing(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    with pytest.raises(UsageError, match="Nothing was changed"):
        require_consent("Delete Alpha?", is_given=False)


def test_consent_that_is_given_is_not_asked_for() -> None:
    require_consent("Delete Alpha?", is_given=True)


@pytest.mark.parametrize(("stream", "is_drawn"), [(Terminal(), True), (StringIO(), False)])
def test_only_somebody_who_watches_sees_a_bar(
    monkeypatch: pytest.MonkeyPatch, stream: StringIO, *, is_drawn: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    with counting("importing", 3) as done:
        done(3)
    assert ("importing" in stream.getvalue()) is is_drawn
