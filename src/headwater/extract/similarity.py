"""Do two texts say nearly the same? Sixty-four bits each, and the number in which they differ."""

from headwater.extract.text import tokens

_SHINGLE_WORDS = 3
_MOST_TOKENS = 20_000
_BITS = 64


def simhash(text: str) -> int:
    """Unsigned; each bit is the majority of that bit over the hashes of all runs of three words. No words: 0."""
    import numpy as np
    from xxhash import xxh3_64_digest

    words = tokens(text)[:_MOST_TOKENS]
    if not words:
        return 0
    runs = (" ".join(words[at : at + _SHINGLE_WORDS]) for at in range(max(1, len(words) - _SHINGLE_WORDS + 1)))
    hashes = b"".join(xxh3_64_digest(run.encode()) for run in runs)
    votes = np.unpackbits(np.frombuffer(hashes, np.uint8).reshape(-1, _BITS // 8), axis=1).mean(axis=0)
    return int.from_bytes(np.packbits(votes > 0.5).tobytes())


def hamming(one: int, other: int) -> int:
    """In how many of the 64 bits they differ: 0 for the same text, around 32 for unrelated ones."""
    return (one ^ other).bit_count()
