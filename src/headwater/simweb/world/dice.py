"""Chance that repeats: everything in the world is drawn from dice named by what they decide."""

from collections.abc import Sequence
from math import exp
from typing import TypeVar

from headwater.chance import random_from

T = TypeVar("T")


class Dice:
    """Equal names give equal throws, whatever else was thrown before."""

    __slots__ = ("_bits", "fraction")

    def __init__(self, *name: object) -> None:
        source = random_from("/".join(map(str, name)))
        self.fraction = source.random
        self._bits = source.getrandbits

    def key(self) -> int:
        return self._bits(48)

    def happens(self, probability: float) -> bool:
        return self.fraction() < probability

    def one(self, options: Sequence[T]) -> T:
        return options[int(self.fraction() * len(options))]

    def between(self, low: float, high: float) -> float:
        return low + self.fraction() * (high - low)

    def count(self, low: int, high: int) -> int:
        return low + int(self.fraction() * (high - low + 1))

    def some(self, options: Sequence[T], n: int) -> tuple[T, ...]:
        """Up to `n` different options, in drawn order."""
        left = list(options)
        return tuple(left.pop(int(self.fraction() * len(left))) for _ in range(min(n, len(left))))

    def arrivals(self, mean: float) -> int:
        """How many independent things happen where `mean` are expected (Knuth's method)."""
        threshold, product, n = exp(-mean), self.fraction(), 0
        while product > threshold:
            product *= self.fraction()
            n += 1
        return n
