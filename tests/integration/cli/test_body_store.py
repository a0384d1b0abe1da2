"""`doctor`, `problems` and `db move-bodies` on raw bodies outside of the database."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.integration.archive.bodies import keep_body
from tests.integration.archive.shelf import SOURCE, key_of
from tests.integration.cli.desk import Desk
from tests.integration.cli.test_operations import FIGURE
from tests.s3_server import KEY, SECRET, S3Server

from headwater.archive.raw import RawBody
from headwater.database.pool import Database

PAGES = [f"https://h{number}.example/" for number in range(3)]


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def told(desk: Desk, *words: str) -> str:
    """What doctor says of raw bodies, with what to do."""
    lines = desk.says("doctor", *words).out.splitlines()
    at = next(number for number, line in enumerate(lines) if "aw bodies" in line or "raw_store" in line)
    return " ".join(line.strip() for line in lines[at : at + 2] if "aw bod" in line or "raw_" in line or "fix:" in line)


def keep(desk: Desk) -> None:
    async def stored(database: Database) -> None:
        async with database.transaction() as connection:
            for url in PAGES:
                await keep_body(connection, RawBody(key_of(url), SOURCE, url, 200, {}, b"<p>"), datetime.now(UTC))

    desk.on_database(stored)


def test_doctor_tries_the_store_and_says_what_to_do(desk: Desk) -> None:
    assert told(desk) == "✓ Raw bodies are kept in the database"
    desk.settings["archive.raw_store"] = "folder"
    assert told(desk) == f"✓ Raw bodies are kept in {desk.home}/data/raw, which no figure of the database counts"
    assert [one.name for one in (desk.home / "data" / "raw").rglob("*.body")] == []
    (desk.home / "file").write_text("in the way")
    desk.settings["archive.raw_folder"] = f"{desk.home}/file"
    assert told(desk).startswith(f"✗ The folder of raw bodies {desk.home}/file cannot be used: File exists fix: ")
    desk.settings = {"archive.raw_store": "s3"}
    assert told(desk) == "✗ archive.raw_store is s3, and no bucket is named fix: Set archive.s3_bucket."
    desk.execute("insert into body_removals (stored_in, object_id) values ('folder', gen_random_uuid())")
    desk.settings = {}
    assert "1 of before wait in the folder store to be deleted fix: Name the store again" in told(desk)


def test_a_role_does_not_start_with_half_a_store(desk: Desk) -> None:
    desk.settings["archive.raw_store"] = "s3"
    said = desk.says("run", "maintain", "--once")
    assert (said.code, "Set archive.s3_bucket." in said.err) == (2, True)


def test_bodies_that_a_store_did_not_take_are_a_problem(desk: Desk) -> None:
    assert desk.says("problems").code == 0
    desk.execute(FIGURE, "bodies_not_put", 7, "The store of raw bodies s3://x does not serve us: NoSuchBucket.")
    said = desk.says("problems").out
    assert "7 raw bodies of the last hour went into the database, since their store refused." in said
    assert "NoSuchBucket" in said
    assert "headwater db move-bodies" in said


def test_bodies_are_moved_to_where_settings_say_and_back(desk: Desk) -> None:
    keep(desk)
    assert desk.says("db", "move-bodies").err.strip() == "0 bodies moved into the database."
    desk.settings["archive.raw_store"] = "folder"
    assert desk.says("db", "move-bodies").err.startswith(f"3 bodies moved into {desk.home}/data/raw, ")
    assert len(list((desk.home / "data" / "raw").rglob("*.body"))) == 3
    (desk.home / "data" / "raw").rename(desk.home / "away")
    assert "cannot be used: No such file or directory fix: Bodies lay there before: mount" in told(desk)
    assert not (desk.home / "data" / "raw").exists()
    (desk.home / "away").rename(desk.home / "data" / "raw")
    desk.settings = {"archive.raw_folder": f"{desk.home}/data/raw"}
    assert desk.says("db", "move-bodies").err.startswith("3 bodies moved into the database, ")
    assert desk.says("run", "maintain", "--once").code == 0
    assert list((desk.home / "data" / "raw").rglob("*.body")) == []


@pytest.mark.long
def test_keys_of_a_store_are_told_nowhere(desk: Desk, s3: S3Server) -> None:
    keep(desk)
    desk.settings = {
        "archive.raw_store": "s3",
        "archive.s3_endpoint": s3.address,
        "archive.s3_bucket": s3.new_bucket(),
        "archive.s3_prefix": "a/b",
        "archive.s3_key_id": KEY,
        "archive.s3_secret": SECRET,
    }
    assert told(desk).startswith("✓ Raw bodies are kept in s3://")
    said = [desk.says(*words) for words in (("db", "move-bodies"), ("doctor",), ("config", "show"), ("problems",))]
    assert said[0].err.startswith("3 bodies moved into s3://")
    desk.settings["archive.s3_bucket"] = "no-such-bucket"
    assert "✗ The store of raw bodies s3://no-such-bucket/a/b/" in told(desk)
    said += [desk.says("doctor"), desk.says("run", "maintain", "--once")]
    assert not [one for one in said if SECRET in one.out + one.err or KEY in one.out + one.err]
