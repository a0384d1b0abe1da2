"""Numbers that are none, or that no clock and no query could take."""

import pytest
from tests.integration.cli.conftest import Person

NONSENSE = ("nan", "inf", "-inf", "-1", "0", "1e300")
USAGE = 2


@pytest.mark.parametrize("number", NONSENSE)
@pytest.mark.parametrize(
    "words", [("audit", "politeness", "--hours"), ("demo", "--pace"), ("simweb", "serve", "--pace")], ids=" ".join
)
def test_a_number_that_makes_no_sense_is_refused_with_a_sentence(
    person: Person, words: tuple[str, ...], number: str
) -> None:
    said = person.says(*words[:-1], f"{words[-1]}={number}")
    assert said.code == USAGE
    assert f"{words[-1]} {float(number):g} is not possible." in said.err
    assert "fix: Give" in said.err
    assert not person.server_is_running()


@pytest.mark.parametrize("number", ["-1", "0", "1000000000000"])
def test_a_list_that_nobody_could_want_is_refused_with_a_sentence(person: Person, number: str) -> None:
    said = person.says("audit", "politeness", f"--limit={number}")
    assert (said.code, "is not possible" in said.err) == (USAGE, True)


@pytest.mark.parametrize("number", ["nan", "inf", "1e300"])
def test_a_frequency_that_makes_no_sense_is_refused_with_a_sentence(person: Person, number: str) -> None:
    said = person.says("sources", "add", "https://a.example/", "--no-discover", f"--frequency-days={number}")
    assert said.code == USAGE
    assert "Traceback" not in said.err
