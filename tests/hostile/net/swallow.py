"""Run as a program of its own: reads a packed body under a cap, and says what came out and how far memory grew."""

import sys
from pathlib import Path

from headwater.net.body import BodyOutcome, BodyReader, TooLarge, encodings_in

CAP_BYTES = 10 * 1024 * 1024


def peak_kilobytes() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def swallowed(data: bytes, encodings: tuple[str, ...], chunk: int) -> BodyOutcome:
    reader = BodyReader(CAP_BYTES, encodings)
    for at in range(0, len(data), chunk):
        if outcome := reader.feed(data[at : at + chunk]):
            return outcome
    return reader.end()


def main(path: str, encoding: str, chunk: str) -> None:
    data = Path(path).read_bytes()
    before = peak_kilobytes()
    outcome = swallowed(data, encodings_in([encoding]), int(chunk))
    held = len(outcome.start) if isinstance(outcome, TooLarge) else -1
    print(type(outcome).__name__, held, peak_kilobytes() - before)


if __name__ == "__main__":
    main(*sys.argv[1:])
