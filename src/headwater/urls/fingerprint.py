"""Hashes and identifiers made from a key and a host."""

from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple
from uuid import UUID


class DocumentKey(NamedTuple):
    """Of a document or a vacancy: where it lies, and the hash of its canonical URL."""

    bucket: int
    url_hash: bytes


def hash_of(key: str) -> bytes:
    return sha256(key.encode()).digest()


@lru_cache(maxsize=32_768)
def bucket_of(host: str) -> int:
    """One of 256 fixed places, so that everything about a host lies together."""
    return sha256(host.encode()).digest()[0]


def entry_id(bucket: int, url_hash: bytes) -> UUID:
    """A UUID of version 8 (RFC 9562 5.8): the bucket, then 114 bits of the hash."""
    octets = bytearray((bucket, *url_hash[:15]))
    octets[6] = 0x80 | octets[6] & 0x0F
    octets[8] = 0x80 | octets[8] & 0x3F
    return UUID(bytes=bytes(octets))
