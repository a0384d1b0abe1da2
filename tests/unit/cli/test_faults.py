"""Errors that no command raises on purpose, as `service.mode` lets them be told."""

import pytest

from headwater.cli import app
from headwater.errors import QueryFailed

VALUE = "a row of somebody's"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_text: str) -> None:
        raise KeyError(VALUE)

    monkeypatch.setattr(app, "show_lines", fail)


@pytest.mark.usefixtures("broken")
def test_production_shows_a_fault_without_values_and_says_how_to_see_more(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run([]) == 1
    said = capsys.readouterr().err
    assert "KeyError at cli/app.py:" in said
    assert "service.mode=dev" in said
    assert VALUE not in said
    assert "Traceback" not in said


@pytest.mark.usefixtures("broken")
def test_development_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["--set", "service.mode=dev"]) == 1
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert VALUE in said


@pytest.mark.parametrize(("mode", "is_whole"), [("prod", False), ("dev", True)])
def test_a_refused_statement_is_named_in_development_only(
    mode: str, is_whole: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_text: str) -> None:
        what = f"PostgreSQL refused keep_page: duplicate key\nDETAIL:  Key (x)=({VALUE}) already exists."
        raise QueryFailed(what, sqlstate="23505", query="keep_page")

    monkeypatch.setattr(app, "show_lines", refuse)
    assert app.run(["--set", f"service.mode={mode}"]) == 1
    said = capsys.readouterr().err
    assert "duplicate key" in said
    assert (VALUE in said, "keep_page" in said) == (is_whole, is_whole)
