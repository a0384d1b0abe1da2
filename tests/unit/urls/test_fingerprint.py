from uuid import RFC_4122, UUID

import pytest

from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import entry_id


def test_entry_id_begins_with_its_bucket() -> None:
    assert [entry_id(bucket, b"\xff" * 32).bytes[0] for bucket in range(256)] == list(range(256))


@pytest.mark.parametrize("octet", [b"\x00", b"\xff", b"\x5a"])
def test_entry_id_is_a_uuid_of_version_8(octet: bytes) -> None:
    found = entry_id(7, octet * 32)
    assert (found.version, found.variant) == (8, RFC_4122)


def test_entry_id_never_changes_its_recipe() -> None:
    assert entry_id(0xAB, bytes(range(32))) == UUID("ab000102-0304-8506-8708-090a0b0c0d0e")


def test_one_key_has_one_entry_id() -> None:
    assert canonicalise("http://H/a/").entry_id == canonicalise("https://h/a?utm_source=x").entry_id
    assert canonicalise("http://h/a").entry_id != canonicalise("http://h/b").entry_id
