"""The content codings we can write. Fast levels: the simulated web must leave the cores to what is measured."""

import gzip
from collections.abc import Iterable
from typing import Protocol

import brotli
import zstandard


class Packer(Protocol):
    def compress(self, data: bytes) -> bytes: ...
    def flush(self) -> bytes: ...


class _Brotli:
    def __init__(self) -> None:
        self._packer = brotli.Compressor(quality=2)

    def compress(self, data: bytes) -> bytes:
        return bytes(self._packer.process(data))

    def flush(self) -> bytes:
        return bytes(self._packer.finish())


def encoded(body: bytes, coding: str) -> bytes:
    match coding:
        case "gzip":
            return gzip.compress(body, compresslevel=1, mtime=0)
        case "br":
            return packed(_Brotli(), (body,))
        case "zstd":
            return zstandard.ZstdCompressor(level=1).compress(body)
        case _:
            return body


def packed(packer: Packer, chunks: Iterable[bytes]) -> bytes:
    return b"".join(packer.compress(chunk) for chunk in chunks) + packer.flush()


def stream_packer(coding: str) -> Packer:
    return _Brotli() if coding == "br" else zstandard.ZstdCompressor(level=1).compressobj()
