"""Calls about tokens.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator
from typing import Unpack

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.tokens import NewTokenShape, TokenList, TokenRequest, TokenShape


class TokensCalls(Connection):
    """A part of the client."""

    def list_tokens(self, *, limit: int | None = None, cursor: str | None = None) -> TokenList:
        """List the tokens, newest first, revoked ones among them.

        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: admin.
        """
        told: TokenList = self._ask("GET", "/api/v1/tokens", query={"limit": limit, "cursor": cursor})
        return told

    def iter_tokens(self, *, limit: int | None = None) -> Iterator[TokenShape]:
        """Each of `list_tokens`, page by page."""
        return self._each("tokens", lambda cursor: self.list_tokens(limit=limit, cursor=cursor))

    def add_token(self, **fields: Unpack[TokenRequest]) -> NewTokenShape:
        """Make a token for a program. The answer tells it once; only its hash is kept.

        Role: admin.
        """
        told: NewTokenShape = self._ask("POST", "/api/v1/tokens", body=fields)
        return told

    def revoke_token(self, id_: str, /) -> None:
        """Revoke a token: the next request that shows it is refused.

        Role: admin.
        """
        self._ask("DELETE", f"/api/v1/tokens/{in_path(id_)}")
