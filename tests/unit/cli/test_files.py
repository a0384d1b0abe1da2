"""Files for a person: whole or not at all (F24), and never through a link (input 124)."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.cli.files import why_unwritten, write_file


def names_in(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


@pytest.fixture
def small_disk() -> Iterator[None]:
    """No file may grow beyond 4 kB: the system says so in the middle of a write, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_is_written_and_written_again(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    for text in (b"one", b"two"):
        assert why_unwritten(file, [text]) == ""
        assert file.read_bytes() == text
    assert names_in(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("is_chosen", [True, False])
def test_a_link_is_replaced_and_what_it_points_to_stays(tmp_path: Path, is_chosen: bool) -> None:
    precious, file = tmp_path / "precious", tmp_path / "list.rejected.csv"
    precious.write_text("mine")
    file.symlink_to(precious)
    assert why_unwritten(file, [b"rows"], is_chosen=is_chosen) == ""
    assert precious.read_text() == "mine"
    assert not file.is_symlink()
    assert file.read_bytes() == b"rows"


def test_a_link_to_nowhere_makes_no_file_there(tmp_path: Path) -> None:
    elsewhere, file = tmp_path / "elsewhere", tmp_path / "list.rejected.csv"
    file.symlink_to(elsewhere)
    write_file(file, [b"rows"], is_chosen=False)
    assert not elsewhere.exists()


@pytest.mark.usefixtures("small_disk")
def test_what_does_not_fit_leaves_nothing_and_the_old_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    file.write_bytes(b"old")
    assert "large" in why_unwritten(file, [b"x" * 3_000, b"x" * 3_000])
    assert file.read_bytes() == b"old"
    assert names_in(tmp_path) == ["out.csv"]


def test_pieces_that_fail_in_the_middle_leave_nothing(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_file(tmp_path / "out.csv", pieces())
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "why"), [("no/such/folder.csv", "No such file"), ("a\0b", "null"), (".", "directory"), ("x" * 300, "long")]
)
def test_a_place_that_cannot_be_is_a_sentence(tmp_path: Path, name: str, why: str) -> None:
    assert why in why_unwritten(tmp_path / name, [b"x"])
    assert names_in(tmp_path) == []


def test_a_device_that_a_person_names_is_written_to_and_a_full_one_is_told() -> None:
    assert why_unwritten(Path("/dev/null"), [b"x"]) == ""
    assert Path("/dev/null").is_char_device()
    assert "space" in why_unwritten(Path("/dev/full"), [b"x" * 100_000])
