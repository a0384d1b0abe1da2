"""Small answers that unpack to very large ones."""

import gzip
import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Annotated, Literal

from pydantic import Field

from headwater.simweb.codings import packed, stream_packer
from headwater.simweb.mischief.stage import Mischief, Scene, Steps, pieces, streamed

Coding = Literal["gzip", "deflate", "br", "zstd", "gzip, gzip"]
_MEBIBYTE = bytes(1024 * 1024)
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
_ZLIB_HEAD = b"\x78\xda"


@dataclass(frozen=True, slots=True)
class Bomb(Mischief):
    """`megabytes` of zeros in the given Content-Encoding: about a thousandth of that on the wire, or far less."""

    coding: Coding = "gzip"
    megabytes: Annotated[int, Field(gt=0, le=4096)] = 50

    def play(self, scene: Scene) -> Steps:
        headers = (("Content-Type", "text/html"), ("Content-Encoding", self.coding))
        return streamed(scene, headers, pieces(zeros(self.coding, self.megabytes), 65_536))


@lru_cache(maxsize=16)
def zeros(coding: Coding, megabytes: int) -> bytes:
    match coding:
        case "gzip":
            return _gzip(megabytes)
        case "gzip, gzip":
            return gzip.compress(_gzip(megabytes), mtime=0)
        case "deflate":
            return _deflate(megabytes)
        case "br" | "zstd":
            return packed(stream_packer(coding), repeat(_MEBIBYTE, megabytes))


def _raw_deflate(megabytes: int) -> bytes:
    # After a full flush a block refers to nothing before it, so one block serves for all: no long compression.
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(_MEBIBYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * megabytes + packer.flush()


def _gzip(megabytes: int) -> bytes:
    checksum = 0
    for _ in range(megabytes):
        checksum = zlib.crc32(_MEBIBYTE, checksum)
    size = megabytes * len(_MEBIBYTE) % 2**32
    return _GZIP_HEAD + _raw_deflate(megabytes) + struct.pack("<II", checksum, size)


def _deflate(megabytes: int) -> bytes:
    checksum = 1
    for _ in range(megabytes):
        checksum = zlib.adler32(_MEBIBYTE, checksum)
    return _ZLIB_HEAD + _raw_deflate(megabytes) + struct.pack(">I", checksum)


KINDS = (Bomb,)
