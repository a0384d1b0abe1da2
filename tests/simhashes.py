"""How far two simhashes are apart; the product asks the database."""


def hamming(one: int, other: int) -> int:
    """In how many of the 64 bits they differ: 0 for the same text, around 32 for unrelated ones."""
    return (one ^ other).bit_count()
