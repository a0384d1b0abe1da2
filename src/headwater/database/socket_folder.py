"""Where the server's socket lies: beside the data, or in a short private folder when that path will not do."""

import hashlib
from pathlib import Path

PORT = 5432
# The kernel keeps 108 bytes for a socket's path, macOS 104, one of them for the end.
LONGEST_PATH_BYTES = 103
# Not the configured temporary folder: every process must come to the same answer.
SHORT_PARENT = Path("/tmp")  # noqa: S108 -- the folder in it is closed to others, and refused if it is not ours


def socket_folder(directory: Path) -> Path:
    beside = directory / "socket"
    name = str(beside / f".s.PGSQL.{PORT}")
    # A comma separates two folders for the server and two hosts for the client.
    if len(name.encode()) <= LONGEST_PATH_BYTES and "," not in name:
        return beside
    return SHORT_PARENT / f"headwater-{hashlib.sha256(bytes(directory)).hexdigest()[:16]}"
