"""Blocks as they are stored: JSON compressed with the document's own text as its dictionary.

So no word is stored twice. A text whose lines say everything themselves has none stored.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
import zstandard

from headwater.blocks.block import MOST_MARKS_OF_PAGE, BodyBlock, InlineMark, blocks_of_text
from headwater.storable import storable_json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_LEVEL = 6
_LARGEST_BYTES = 4 << 20
_UNSAID: dict[str, Any] = {
    name: field.default
    for name, field in BodyBlock.__dataclass_fields__.items()
    if name not in ("kind", "marks", "cell_marks")
}


def pack_blocks(blocks: Sequence[BodyBlock], text: str) -> bytes | None:
    """None: the text's lines say the same."""
    if not blocks or sum(len(one.marks) + len(one.cell_marks) for one in blocks) > 2 * MOST_MARKS_OF_PAGE:
        return None
    if tuple(blocks) == blocks_of_text(text):
        return None
    written = storable_json([json_of(block) for block in blocks]).encode()
    if len(written) > _LARGEST_BYTES:
        return None
    return zstandard.ZstdCompressor(_LEVEL, dict_data=_dictionary(text)).compress(written)


def unpack_blocks(packed: bytes | None, text: str) -> tuple[BodyBlock, ...]:
    if packed is None:
        return blocks_of_text(text)
    try:
        written = zstandard.ZstdDecompressor(dict_data=_dictionary(text)).decompress(packed, _LARGEST_BYTES)
        return _blocks().validate_python(orjson.loads(written))
    except (zstandard.ZstdError, ValueError):
        # Rows that a person or an emptied document changed by half: the text is the document.
        return blocks_of_text(text)


def json_of(block: BodyBlock) -> dict[str, Any]:
    """Only what it says, for programs as for the archive."""
    said: dict[str, Any] = {"kind": str(block.kind)}
    for name, unsaid in _UNSAID.items():
        if (value := getattr(block, name)) != unsaid:
            said[name] = value.isoformat() if name == "at" else value
    if block.marks:
        said["marks"] = [_mark(one) for one in block.marks]
    if block.cell_marks:
        said["cell_marks"] = [{"row": one.row, "column": one.column, **_mark(one)} for one in block.cell_marks]
    return said


def _mark(one: InlineMark) -> dict[str, Any]:
    return {"begin": one.begin, "end": one.end, "kind": str(one.kind)} | ({"url": one.url} if one.url else {})


def _dictionary(text: str) -> zstandard.ZstdCompressionDict:
    # Shorter ones are refused.
    return zstandard.ZstdCompressionDict(
        text.encode(errors="replace").ljust(8), dict_type=zstandard.DICT_TYPE_RAWCONTENT
    )


@cache
def _blocks() -> "TypeAdapter[tuple[BodyBlock, ...]]":
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[BodyBlock, ...])
