"""Values of operations.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import TypedDict

from headwater.client.shapes.shared import OperationShape


class OperationList(TypedDict):
    operations: list[OperationShape]
    cursor: str | None
