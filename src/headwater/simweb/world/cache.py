"""A dictionary that forgets what was used longest ago."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: dict[Hashable, T] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        kept = self._kept
        value = kept.pop(key, None)
        if value is None:
            value = make()
            while len(kept) >= self._limit:
                del kept[next(iter(kept))]
        kept[key] = value
        return value
