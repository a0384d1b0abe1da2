"""Calls about sinks.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Unpack

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.shared import OperationShape
from headwater.client.shapes.sinks import (
    AddedSinkShape,
    NewSink,
    PauseWish,
    RebuildWish,
    Rebuilt,
    Retried,
    SinkList,
    SinkState,
    SinkStoryShape,
    SinkTypeList,
    TriedSink,
    VerifyWish,
)


class SinksCalls(Connection):
    """A part of the client."""

    def list_sinks(self) -> SinkList:
        """List the sinks: state, how far behind, what is parked, the last success.

        Role: viewer.
        """
        told: SinkList = self._ask("GET", "/api/v1/sinks")
        return told

    def add_sink(self, **fields: Unpack[NewSink]) -> AddedSinkShape:
        """Deliver to a sink. A store is filled from the archive; a stream of events begins at the log's end.

        A sink that does not answer is added all the same, and is tried again by itself. A cloud's metadata service is
        refused, and so are folders outside of the data folder.

        Role: admin.
        """
        told: AddedSinkShape = self._ask("POST", "/api/v1/sinks", body=fields)
        return told

    def list_types(self) -> SinkTypeList:
        """List the types of sinks with their options.

        Role: viewer.
        """
        told: SinkTypeList = self._ask("GET", "/api/v1/sinks/types")
        return told

    def show_sink(self, name: str, /) -> SinkStoryShape:
        """Show a sink: its state, its options without secrets, what it refused and why, how far it is filled.

        `name`: The sink's name.
        Role: viewer.
        """
        told: SinkStoryShape = self._ask("GET", f"/api/v1/sinks/{in_path(name)}")
        return told

    def delete_sink(self, name: str, /, *, if_match: str | None = None) -> None:
        """Deliver to a sink no longer. What it holds stays there, also what a takedown asks for later.

        `name`: The sink's name.
        `if_match`: the `edition` of what this change was made from; over a newer one it is refused.
        Role: admin.
        """
        self._ask("DELETE", f"/api/v1/sinks/{in_path(name)}", if_match=if_match)

    def pause_sink(self, name: str, /, **fields: Unpack[PauseWish]) -> SinkState:
        """Send nothing to a sink until it is resumed; it goes on where it stood.

        `name`: The sink's name.
        Role: operator.
        """
        told: SinkState = self._ask("POST", f"/api/v1/sinks/{in_path(name)}/pause", body=fields or None)
        return told

    def rebuild_sink(self, name: str, /, **fields: Unpack[RebuildWish]) -> Rebuilt:
        """Send a sink everything anew, in the background; changes are delivered meanwhile. It wants `confirm`.

        `name`: The sink's name.
        Role: operator.
        """
        told: Rebuilt = self._ask("POST", f"/api/v1/sinks/{in_path(name)}/rebuild", body=fields or None)
        return told

    def resume_sink(self, name: str, /) -> SinkState:
        """Let a sink go on that was paused, or that asked to be sent nothing; one that is down is tried at once.

        `name`: The sink's name.
        Role: operator.
        """
        told: SinkState = self._ask("POST", f"/api/v1/sinks/{in_path(name)}/resume")
        return told

    def retry_failed_records(self, name: str, /, *, error: str | None = None) -> Retried:
        """Try the records again that a sink refused, parked ones too.

        `name`: The sink's name.
        `error`: Only those of a group of `failed_by_error`.
        Role: operator.
        """
        told: Retried = self._ask("POST", f"/api/v1/sinks/{in_path(name)}/retry", query={"error": error})
        return told

    def test_sink(self, name: str, /) -> TriedSink:
        """Try a sink once, without sending a record; 503 tells why it failed.

        `name`: The sink's name.
        Role: operator.
        """
        told: TriedSink = self._ask("POST", f"/api/v1/sinks/{in_path(name)}/test")
        return told

    def verify_sink(self, name: str, /, **fields: Unpack[VerifyWish]) -> OperationShape:
        """Compare a sink with the archive: missing, outdated, too much, in the wrong place.

        The operation's result says what differs, as `headwater sinks verify --json` does.

        `name`: The sink's name.
        Role: operator.
        """
        told: OperationShape = self._ask("POST", f"/api/v1/sinks/{in_path(name)}/verify", body=fields or None)
        return told
