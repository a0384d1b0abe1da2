"""The client that programs make."""

from types import TracebackType
from typing import Self

from headwater.client.calls.every import ApiCalls
from headwater.client.connection import Attempts, Patience
from headwater.client.problems import ServerProblem
from headwater.client.shapes.shared import OperationShape
from headwater.errors import Busy, HeadwaterError

UNPROCESSABLE = 422


class Client(ApiCalls):
    """The API at an address, with a method for each of its operations.

    `token` is one of `headwater admin token create`; without logins none is needed. Each answer is waited for `timeout`
    seconds, and calls that may safely be made again are, for `retry_for` seconds in all. Several threads may use one
    client. Problems are raised: `headwater.NotFound`, `headwater.UsageError` and others, each with `what` and `fix`.
    """

    def __init__(self, address: str, token: str = "", *, timeout: float = 30.0, retry_for: float = 60.0) -> None:
        super().__init__(address, token, Patience(timeout, retry_for))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def wait_for_operation(self, id_: str, *, within: float = 600.0) -> OperationShape:
        """Long work, when it is done. Raises Busy where it still runs then, and its problem where it failed."""
        waiting = Attempts(
            Patience(retry_for=within, sleep=self._patience.sleep, now=self._patience.now), True, self._patience.now()
        )
        while (told := self.show_operation(id_))["state"] == "running":
            if not waiting.wait():
                raise Busy(f"{told['kind']} still runs after {within:g} seconds.", fix="Wait for it again.")
        if told["state"] != "done":
            raise failure_of(told)
        return told


def failure_of(operation: OperationShape) -> HeadwaterError:
    told = operation["problem"] or {"detail": f"{operation['kind']} was {operation['state']}."}
    return ServerProblem(int(told.get("status", UNPROCESSABLE)), told)
