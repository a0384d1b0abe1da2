"""Answers that all pages of a process share for a moment: looked for once, for all who come at the same time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast

from fastapi import FastAPI

from headwater.clock import SystemClock

T = TypeVar("T")


@dataclass(slots=True)
class SharedAnswer(Generic[T]):
    looking: asyncio.Lock = field(default_factory=asyncio.Lock)
    looked_at: float = float("-inf")
    answer: T | None = None


async def lately(app: FastAPI, name: str, seconds: float, look: Callable[[], Awaitable[T]]) -> T:
    """The answer of this name, no older than so many seconds."""
    if not hasattr(app.state, "kept_answers"):
        app.state.kept_answers = {}
    kept: SharedAnswer[T] = app.state.kept_answers.setdefault(name, SharedAnswer())
    async with kept.looking:
        if SystemClock().monotonic() - kept.looked_at > seconds:
            kept.answer = await look()
            kept.looked_at = SystemClock().monotonic()
        return cast("T", kept.answer)
