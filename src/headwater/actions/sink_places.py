"""Places that a sink may not be sent to, whoever names them."""

from pathlib import Path
from urllib.parse import urlsplit

from headwater.deliver.sink import SinkOptions, options_as_given
from headwater.errors import Refused
from headwater.net.addresses import parse_address
from headwater.net.guard import BlockedAddress, OperatorGuard

SINKS_FOLDER = "sinks"


def require_allowed_places(options: SinkOptions, root: Path | None) -> None:
    """Never a cloud's metadata service; below `root` alone, where one is given, all folders."""
    for value in options_as_given(options).values():
        if isinstance(value, str) and "://" in value:
            _require_allowed_server(value)
    folder = getattr(options, "folder", "")
    if root is not None and folder:
        home = (root / SINKS_FOLDER).resolve()
        if not (root / folder).resolve().is_relative_to(home):
            raise Refused(
                f"Files of a sink that is added here lie below {home}.",
                fix="Leave the folder out, or add the sink on the machine itself: headwater sinks add",
            )


def _require_allowed_server(address: str) -> None:
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return  # its own check says what is wrong with it
    guard = OperatorGuard()
    try:
        guard.check_host(host)
        if parse_address(host):
            guard.check(host, 0)
    except BlockedAddress as blocked:
        raise Refused(
            f"A sink may not be sent to {host}: {blocked.reason}.", fix="Name a server of your own."
        ) from None
