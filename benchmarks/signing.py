"""What a signature costs a request: CPU time, and bytes of its head.

The signer is the one that every request goes through. A host that is asked again within the hour has its signature
made; the first request to a host, and each request with `identity.nonce`, has a new one.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from headwater.clock import SystemClock
from headwater.log import make_logger
from headwater.net.keys import KeyRing, new_key, write_keys
from headwater.net.signing import KeyFile, RequestSigner, key_directory

ROUNDS, A_ROUND = 40, 500
AGENT = "https://crawler.example"


def microseconds(work: Callable[[], object]) -> tuple[float, float, float]:
    """The median of many rounds, and the half of them around it."""
    found = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(A_ROUND):
            work()
        found.append((time.process_time() - began) / A_ROUND * 1e6)
    low, middle, high = statistics.quantiles(found, n=4)
    return middle, low, high


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, clock = Path(folder) / "identity.json", SystemClock()
        write_keys(file, KeyRing((new_key(clock.now()),)), is_new=True)
        keys = KeyFile(file, clock, make_logger("error", "json"))
        kept, once, hosts = RequestSigner(keys, AGENT), RequestSigner(keys, AGENT, is_once=True), count()
        told = {
            "a host that was asked within the hour": lambda: kept.lines_for("news.example.org"),
            "the first request to a host": lambda: kept.lines_for(f"h{next(hosts)}.example.org"),
            "each request, with a nonce": lambda: once.lines_for("news.example.org"),
            "the directory, once a minute": lambda: key_directory(keys.ring, "crawler.example", clock.now()),
        }
        for name, work in told.items():
            middle, low, high = microseconds(work)
            print(f"{name:40} {middle:8.2f} µs of CPU  ({low:.2f} to {high:.2f})")
        size = sum(len(line) for line in kept.lines_for("news.example.org").values())
        print(f"{'bytes in the head of a request':40} {size:8}")


if __name__ == "__main__":
    main()
