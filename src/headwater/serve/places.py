"""Requests that last: so many at once, of one caller and of all."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from headwater.errors import Busy


class TooMany(Busy):
    """More are under way than are taken at once."""

    headers: ClassVar[dict[str, str]] = {"retry-after": "5"}


@dataclass(slots=True)
class RequestPlaces:
    """`noun` names the requests for people, many of them."""

    noun: str
    most: int
    most_of_one: int
    _held: Counter[str] = field(default_factory=Counter, init=False)

    @contextmanager
    def hold(self, caller: str) -> Iterator[None]:
        """Raises TooMany where there is no place left."""
        if self._held.total() >= self.most:
            raise TooMany(f"{self.most:,} {self.noun} are under way in this process.", fix="Try again in some seconds.")
        if self._held[caller] >= self.most_of_one:
            raise TooMany(f"{self.most_of_one:,} {self.noun} of {caller} are under way.", fix="End some of them.")
        self._held[caller] += 1
        try:
            yield
        finally:
            self._held[caller] -= 1
            self._held += Counter()  # without callers that hold none
