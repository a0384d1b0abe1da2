"""Numbers of the command line, refused with a sentence where they make no sense."""

from headwater.errors import UsageError


def require_number(option: str, value: float, least: float, most: float) -> None:
    """Neither of two comparisons is true of `nan`, so that it is refused with the rest."""
    if not least <= value <= most:
        raise UsageError(f"{option} {value:g} is not possible.", fix=f"Give {least:,g} to {most:,g}.")
