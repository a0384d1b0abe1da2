"""What the program says to somebody who does not know it yet, or mistyped."""

import shlex
import subprocess
from pathlib import Path

import pytest
from tests.integration.cli.conftest import PROGRAM, Person

from headwater.cli.app import app, run
from headwater.cli.examples import EXAMPLES
from headwater.cli.reference import every_command

COMMANDS = [name.removeprefix("headwater ") for name, _ in every_command(app, "headwater")]
FULL = Path("/dev/full")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_page_has_an_example_of_its_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "--help"]) == 0
    assert f"\n  headwater {command}" in capsys.readouterr().out.partition("Example")[2]


@pytest.mark.parametrize("example", [line for lines in EXAMPLES.values() for line in lines])
def test_every_example_is_a_command_line_that_can_be_read(example: str) -> None:
    words = shlex.split(example)[1:]
    if "--set" in words:
        words = words[: words.index("--set")]
    app.parse_args(words, exit_on_error=False, print_error=False)


def test_examples_are_of_commands_that_exist() -> None:
    assert not set(EXAMPLES) - set(COMMANDS)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("soruces", "headwater sources"),
        ("source list", "headwater sources"),
        ("sources remove x", "headwater sources rm"),
        ("sources delete x", "headwater sources rm"),
        ("sources ls", "headwater sources list"),
        ("sources new https://a.example", "headwater sources add"),
        ("sources lst", "headwater sources list"),
        ("--set log.level=error sources ls", "headwater sources list"),
        ("frontier delete x", "headwater frontier rm"),
        ("hosts policy ste", "headwater hosts policy set"),
        ("takedown create x", "headwater takedown add"),
        ("docs find x", "headwater docs search"),
        ("search x", "headwater docs search"),
        ("add x", "headwater sources add"),
        ("init", "headwater config init"),
        ("crawl log", "headwater crawl logs"),
    ],
)
def test_a_mistyped_command_is_answered_with_the_one_that_was_meant(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(typed.split()) == 2
    assert capsys.readouterr().err.splitlines()[1] == f"  fix: Did you mean: {meant}"


def test_a_word_like_no_command_is_answered_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["takedown", "xyzzy"]) == 2
    assert capsys.readouterr().err == (
        "headwater: There is no command `headwater takedown xyzzy`.\n"
        "  fix: One of: accept, add, list, refuse, requests, rm, show.\n"
    )


def test_a_word_too_many_is_no_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["takedown", "list", "x"]) == 2
    assert "`headwater takedown list` takes no 'x'." in capsys.readouterr().err


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    "words", ["--version", "help", "sources", "config show", "config show --json", "help exit-codes"]
)
def test_output_that_cannot_be_written_is_a_sentence(person: Person, words: str) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            (PROGRAM, *words.split()),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=person.environment,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "headwater: The output could not be written: No space left on device."
    assert "Traceback" not in done.stderr


@pytest.mark.long
@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
def test_messages_that_cannot_be_written_keep_no_command_from_its_work(person: Person) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            (PROGRAM, "docs", "list", "--json"),
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            check=False,
            env=person.surroundings({}),
            cwd=person.home,
        )
    assert (done.returncode, done.stdout[:14]) == (0, '{"documents":[')
