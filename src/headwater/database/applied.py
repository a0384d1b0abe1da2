"""A migration as the ledger of a database knows it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Applied:
    """A row of the ledger."""

    number: int
    name: str
    checksum: str

    def __str__(self) -> str:
        return f"{self.number:04}_{self.name}"
