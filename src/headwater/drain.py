"""Whether this process takes on no more work, because a person asked it to, and how much it still has in hand."""

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True)
class Drain:
    """One for a process; every worker in it asks."""

    under_way: int = 0
    is_asked: bool = False
    _over: asyncio.Event = field(default_factory=asyncio.Event)

    def follow(self, *, is_asked: bool) -> bool:
        """Whether that is news."""
        is_news = is_asked != self.is_asked
        self.is_asked = is_asked
        (self._over.clear if is_asked else self._over.set)()
        return is_news

    async def until_over(self) -> None:
        if self.is_asked:
            await self._over.wait()
