"""Do two texts say nearly the same? Sixty-four bits each, and the number in which they differ."""

from headwater.extraction.text import tokens

_MOST_TOKENS = 20_000
_BITS = 64
# Odd and without a pattern: a word counts differently in each of the three places of a run.
_PLACES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)


def simhash(text: str) -> int:
    """Unsigned; each bit is the majority of that bit over the hashes of all runs of three words. No words: 0."""
    import numpy as np
    from xxhash import xxh3_64_digest

    words = tokens(text)[:_MOST_TOKENS]
    if not words:
        return 0
    # Words are hashed, and runs are put together from that: to hash every run takes three times as long.
    hashes = np.frombuffer(b"".join(map(xxh3_64_digest, map(str.encode, words))), ">u8").astype(np.uint64)
    count = max(1, len(words) - len(_PLACES) + 1)
    runs = np.zeros(count, np.uint64)
    for at, factor in enumerate(_PLACES[: len(words)]):
        runs += hashes[at : at + count] * np.uint64(factor)
    # Sums keep the low bits of their parts: what is mixed in from above makes all of them alike.
    runs = (runs ^ (runs >> np.uint64(32))) * np.uint64(_PLACES[0])
    runs ^= runs >> np.uint64(29)
    votes = np.unpackbits(runs.astype(">u8").view(np.uint8)).reshape(-1, _BITS).sum(axis=0, dtype=np.uint32)
    return int.from_bytes(np.packbits(votes * 2 > count).tobytes())
