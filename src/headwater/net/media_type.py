"""What an answer says it is, and what its first bytes say. Pure."""

# How files begin that no page does, whatever its charset; where a text could begin so, as much of it as none would.
_FILES = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"II*\x00",
    b"MM\x00*",
    b"\x00\x00\x01\x00",
    b"%PDF-",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b\x08",
    b"BZh91AY&SY",
    b"\xfd7zXZ\x00",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"\x28\xb5\x2f\xfd",
    b"\x7fELF",
    b"MZ\x90\x00",
    b"\xca\xfe\xba\xbe",
    b"\x00asm",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"SQLite format 3\x00",
    b"OggS\x00",
    b"ID3\x02",
    b"ID3\x03",
    b"ID3\x04",
    b"fLaC\x00",
    b"\x1a\x45\xdf\xa3",
    b"wOFF\x00\x01\x00\x00",
    b"wOF2\x00\x01\x00\x00",
)
# Containers whose name stands behind a length.
_BOXES = ((b"RIFF", 8, (b"WEBP", b"WAVE", b"AVI ")), (b"", 4, (b"ftyp",)))


def media_type(content_type: str) -> str:
    """`text/html` of `Text/HTML; charset=utf-8`."""
    return content_type.partition(";")[0].strip().lower()


def is_file(body: bytes) -> bool:
    """A picture, an archive, a program or the like, whatever its server calls it: there is no text in it to read."""
    return body.startswith(_FILES) or any(
        body.startswith(begin) and body[at : at + 4] in names for begin, at, names in _BOXES
    )
