"""What every store of raw bodies keeps to, on a real folder and on a real S3 server."""

import asyncio
import errno
import os
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import obstore
import pytest
from tests.integration.archive.stores import KINDS, ids_in, open_store
from tests.s3_server import INSTALLATION, KEY, SECRET, S3Server

from headwater.archive.stores.folder import UNFINISHED, FolderStore, store_down
from headwater.archive.stores.known import stores_of, try_store
from headwater.archive.stores.s3 import ObjectStore, object_store, reason_in
from headwater.archive.stores.store import BodyStore
from headwater.errors import SettingError, StoreDown
from headwater.settings.groups import ArchiveSettings

BODIES = {"none": b"", "one": b"\0", "text": b"<p>again</p>", "all": bytes(range(256)) * 40}


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BodyStore:
    return open_store(request.param, tmp_path / "bodies", request)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_a_body_comes_back_byte_for_byte(store: BodyStore, body: bytes) -> None:
    name = uuid4()
    await store.put(name, body)
    assert await store.get(name) == body


async def test_ten_megabytes_come_back(store: BodyStore) -> None:
    name, body = uuid4(), os.urandom(10 << 20)
    await store.put(name, body)
    assert await store.get(name) == body


async def test_what_is_not_there_is_none_and_may_be_deleted(store: BodyStore) -> None:
    kept, missing = uuid4(), uuid4()
    await store.put(kept, b"x")
    assert await store.get(missing) is None
    await store.delete([missing, kept])
    await store.delete([missing, kept])
    await store.delete([])
    assert await store.get(kept) is None
    assert await ids_in(store) == []


async def test_put_again_replaces_and_many_at_once_leave_one_whole_body(store: BodyStore) -> None:
    name = uuid4()
    bodies = [bytes([number]) * 200_000 for number in range(12)]
    await store.put(name, b"before")
    done = await asyncio.gather(*(store.put(name, body) for body in bodies), return_exceptions=True)
    # The server of the tests is not made for it and fails some; a store that fails has said so.
    failed = [one for one in done if one is not None]
    assert all(isinstance(one, StoreDown) for one in failed)
    assert len(failed) < (1 if store.kind == "folder" else len(bodies))
    assert await store.get(name) in bodies
    assert await ids_in(store) == [name]


async def test_ids_are_listed_in_order_from_behind_a_place_on(store: BodyStore) -> None:
    names = sorted(uuid4() for _ in range(30))
    await asyncio.gather(*(store.put(name, b"x") for name in names))
    found, after = list[UUID](), None
    while listed := await store.listed(after, 7):
        assert len(listed) <= 7
        found += [one.id for one in listed]
        after = found[-1]
        assert all(timedelta(seconds=-2) < one.age < timedelta(minutes=5) for one in listed)
    assert found == names
    assert [one.id for one in await store.listed(names[9], 100)] == names[10:]
    assert await store.listed(names[-1], 100) == []


@pytest.mark.long
async def test_more_than_a_thousand_are_listed_and_deleted(store: BodyStore) -> None:
    names = sorted(UUID(int=number * 7919 << 96 | number) for number in range(2_300))
    for start in range(0, len(names), 50):
        await asyncio.gather(*(store.put(name, b"x") for name in names[start : start + 50]))
    assert await ids_in(store) == names
    await store.delete(names[:1_000])
    assert await ids_in(store) == names[1_000:]


async def test_installations_that_share_a_store_do_not_see_each_other(
    store: BodyStore, tmp_path: Path, s3_twin: "S3Twin"
) -> None:
    twin = s3_twin(store, UUID(int=2))
    name = uuid4()
    await store.put(name, b"ours")
    await twin.put(name, b"theirs")
    await twin.delete([name])
    assert await store.get(name) == b"ours"
    assert await twin.listed(None, 10) == []


class S3Twin:
    def __call__(self, store: BodyStore, installation: UUID) -> BodyStore:
        """The same store, as another installation has it."""
        if isinstance(store, FolderStore):
            return FolderStore(store.folder, installation)
        assert isinstance(store, ObjectStore)
        return ObjectStore(store.client, store.bucket, store.root.replace(str(INSTALLATION), str(installation)))


@pytest.fixture
def s3_twin() -> S3Twin:
    return S3Twin()


async def test_a_store_is_tried_with_a_body_that_does_not_stay(store: BodyStore) -> None:
    await try_store(store, uuid4())
    assert await ids_in(store) == []


# A folder.


def files(folder: Path) -> list[str]:
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if not one.is_dir())


async def test_what_others_left_in_the_folder_is_neither_listed_nor_followed(tmp_path: Path) -> None:
    store, outside = FolderStore(tmp_path / "bodies", INSTALLATION), tmp_path / "outside"
    name = UUID("abcd" + "0" * 28)
    await store.put(name, b"ours")
    root = store.folder / str(INSTALLATION)
    outside.mkdir()
    foreign = UUID("ee11" + "0" * 28)
    (outside / "11").mkdir()
    (outside / "11" / f"{foreign.hex}.body").write_bytes(b"not ours")
    (root / "ee").symlink_to(outside)
    (root / "ab" / "zz").mkdir()
    (root / "ab" / "cd" / f"{UUID(int=5).hex}.body").write_bytes(b"in the wrong place")
    (root / "ab" / "cd" / "notes.txt").write_bytes(b"mine")
    (root / "ab" / "letter").write_bytes(b"mine")
    linked = UUID("abcd" + "1" * 28)
    (root / "ab" / "cd" / f"{linked.hex}.body").symlink_to("/etc/hostname")
    assert [one for one in await ids_in(store) if one != linked] == [name]
    for refused in (store.get(linked), store.get(foreign), store.put(foreign, b"x"), store.delete([foreign])):
        with pytest.raises(StoreDown, match="cannot be used"):
            await refused
    assert (outside / "11" / f"{foreign.hex}.body").read_bytes() == b"not ours"
    # A link itself is a file of the folder: it goes, and what it points to stays.
    await store.delete([linked])
    assert Path("/etc/hostname").exists()


async def test_a_pipe_in_the_place_of_a_body_is_not_waited_for(tmp_path: Path) -> None:
    store, name = FolderStore(tmp_path, INSTALLATION), uuid4()
    await store.put(name, b"x")
    [file] = tmp_path.rglob("*.body")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(StoreDown, match="Something else than a file"):
        await store.get(name)


async def test_a_folder_that_is_gone_has_not_lost_its_bodies(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "bodies", INSTALLATION)
    name = uuid4()
    await store.put(name, b"x")
    store.folder.rename(tmp_path / "elsewhere")
    for asked in (store.get(name), store.delete([name]), store.listed(None, 5), store.put(uuid4(), b"y")):
        with pytest.raises(StoreDown, match="No such file"):
            await asked
    after_a_restart = FolderStore(store.folder, INSTALLATION, is_in_use=True)
    with pytest.raises(StoreDown, match="No such file") as told:
        await after_a_restart.put(uuid4(), b"y")
    assert "mount their disk" in told.value.fix
    assert not store.folder.exists()
    # What is left of a disk that is not mounted.
    store.folder.mkdir()
    with pytest.raises(StoreDown, match="No such file"):
        await after_a_restart.put(uuid4(), b"y")
    store.folder.rmdir()
    (tmp_path / "elsewhere").rename(store.folder)
    assert await store.get(name) == b"x"


async def test_a_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreDown) as told:
        await FolderStore(tmp_path / "file" / "bodies", INSTALLATION).put(uuid4(), b"x")
    assert "archive.raw_folder" in told.value.fix
    assert "Make room" in store_down(tmp_path, OSError(errno.ENOSPC, "No space left on device")).fix


async def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    """A limit on the size of files fails in the same place as a disk that is full."""
    import resource
    import signal

    store, kept = FolderStore(tmp_path, INSTALLATION), uuid4()
    await store.put(kept, b"before")
    before = files(tmp_path)
    former, limit = signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limit[1]))
    try:
        with pytest.raises(StoreDown, match="File too large"):
            await store.put(kept, b"x" * 200_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, former)
    assert files(tmp_path) == before
    assert await store.get(kept) == b"before"


async def test_unfinished_files_are_forgotten_once_they_are_old(tmp_path: Path) -> None:
    store, name = FolderStore(tmp_path, INSTALLATION), uuid4()
    await store.put(name, b"x")
    beside = tmp_path / str(INSTALLATION) / UNFINISHED
    # As a process that was killed leaves them; the next one that writes the same body is not in its way.
    for number in range(2):
        (beside / f"{name.hex}.body.{number}").write_bytes(b"hal")
    os.utime(beside / f"{name.hex}.body.0", (1, 1))
    await store.put(name, b"whole")
    assert await store.get(name) == b"whole"
    assert await store.forget_unfinished(timedelta(days=1)) == 1
    assert [one.name for one in beside.iterdir()] == [f"{name.hex}.body.1"]
    assert await store.get(name) == b"whole"


async def test_only_we_may_read_what_is_written(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "bodies", INSTALLATION)
    await store.put(uuid4(), b"x")
    assert {one.stat().st_mode & 0o077 for one in (tmp_path / "bodies").rglob("*")} == {0}


# A store that speaks S3.


@pytest.mark.long
async def test_keys_of_others_are_neither_listed_nor_ours(s3: S3Server) -> None:
    store = s3.new_store()
    name = UUID("abcd" + "0" * 28)
    await store.put(name, b"ours")
    wrong = [f"ab/cd/{UUID(int=5).hex}.body", f"00/{name.hex}.body", "ab/cd/notes.txt", "00/00/x.body", "zz"]
    for key in (*wrong, *(f"0/{number:05}" for number in range(1_200))):
        await obstore.put_async(store.client, f"{store.root}/{key}", b"x")
    assert await ids_in(store) == [name]


@pytest.mark.long
async def test_errors_of_a_server_name_the_cause_and_no_secret(s3: S3Server) -> None:
    nowhere = object_store(s3.settings("no-such-bucket"), INSTALLATION)
    away = object_store(s3.settings("bodies-x", s3_endpoint="http://127.0.0.1:1"), INSTALLATION)
    cases = ((nowhere, "NoSuchBucket", "Make the bucket"), (away, "error sending request", "archive.s3_endpoint"))
    for store, said, fix in cases:
        for asked in (store.put(uuid4(), b"x"), store.get(uuid4()), store.delete([uuid4()]), store.listed(None, 5)):
            with pytest.raises(StoreDown, match=said) as told:
                await asked
            assert fix in told.value.fix
            assert SECRET not in f"{told.value}{told.value.fix}"
            assert KEY not in f"{told.value}{told.value.fix}"


def test_an_answer_that_repeats_keys_is_cut_to_its_code() -> None:
    body = f"<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>{KEY}</AWSAccessKeyId></Error>"
    said = reason_in(RuntimeError(f"Server returned non-2xx status code: 403 Forbidden: {body}"))
    assert said == "SignatureDoesNotMatch"
    assert reason_in(RuntimeError("Server returned non-2xx status code: 503 Slow Down: <x>")) == "503 Slow Down"
    assert reason_in(ValueError(KEY)) == "ValueError"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"raw_store": "s3"}, "no bucket"),
        ({"raw_store": "s3", "s3_bucket": "abc", "s3_key_id": "k"}, "s3_secret is missing"),
        ({"raw_store": "s3", "s3_bucket": "abc", "s3_secret": "k"}, "s3_key_id is missing"),
    ],
)
def test_settings_that_do_not_suffice_are_refused(said: dict[str, str], why: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=why):
        stores_of(ArchiveSettings.model_validate(said), INSTALLATION, tmp_path)


def test_stores_are_known_while_settings_name_them(tmp_path: Path) -> None:
    def known(**said: str) -> tuple[list[str], str]:
        found = stores_of(ArchiveSettings.model_validate(said), INSTALLATION, tmp_path)
        return list(found.known), found.chosen.place if found.chosen else ""

    assert known() == ([], "")
    assert known(raw_store="folder") == (["folder"], str(tmp_path / "raw"))
    assert known(raw_folder="/srv/raw") == (["folder"], "")
    named = {"raw_folder": "/srv/raw", "s3_bucket": "bodies", "s3_prefix": "/a/b/"}
    assert known(raw_store="s3", **named) == (["folder", "s3"], f"s3://bodies/a/b/{INSTALLATION}")
    with pytest.raises(StoreDown, match="no setting names"):
        stores_of(ArchiveSettings(), INSTALLATION, tmp_path).store("folder")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "said",
    [
        {"s3_endpoint": "https://user:pass@minio.example"},
        {"s3_endpoint": "https://minio.example/bucket"},
        {"s3_endpoint": "minio.example"},
        {"s3_bucket": "No Such"},
        {"s3_bucket": "../x"},
        {"s3_prefix": "a/../b"},
        {"s3_prefix": "a//b"},
        {"raw_store": "ftp"},
    ],
)
def test_hostile_settings_are_refused(said: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"should be|Input should"):
        ArchiveSettings.model_validate(said)
