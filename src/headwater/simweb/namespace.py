"""A private network with public-looking addresses, so that tests need no hole in the address guard.

`unshare` gives a child process a network namespace of its own; inside, the loopback device gets the wanted
addresses and the given command takes over: `python -m headwater.simweb.namespace 93.184.216.34,… -- COMMAND`.
The simulated web then listens on port 80 of them, and a SimResolver places each host at one of them.
"""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence

# From <linux/sockios.h> and <net/if.h>: two calls do what `ip addr` would, so iproute2 is not needed.
_SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFNETMASK = 0x8914, 0x8916, 0x891C
_IFF_UP_RUNNING = 0x41


def available() -> str | None:
    """Why no private network can be had here; None if it can."""
    if shutil.which("unshare") is None:
        return "unshare (util-linux) is not installed"
    probe = subprocess.run(["unshare", "-Urmn", "--", "true"], capture_output=True, text=True, check=False)  # noqa: S607
    return None if probe.returncode == 0 else f"the kernel refuses: {probe.stderr.strip()}"


def inside(addresses: Sequence[str], command: Sequence[str]) -> list[str]:
    """The command line that runs `command` in a private network that has these IPv4 addresses."""
    enter = ["unshare", "-Urmn", "--", sys.executable, "-m", "headwater.simweb.namespace"]
    return [*enter, ",".join(addresses), "--", *command]


def configure_loopback(addresses: Sequence[str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP_RUNNING))
        for number, address in enumerate(addresses):
            name = f"lo:{number}".encode()
            fcntl.ioctl(handle, _SIOCSIFADDR, _request(name, address))
            fcntl.ioctl(handle, _SIOCSIFNETMASK, _request(name, "255.255.255.255"))


def _request(name: bytes, address: str) -> bytes:
    return struct.pack("16sHH4s8x", name, socket.AF_INET, 0, socket.inet_aton(address))


def main(arguments: Sequence[str]) -> None:
    addresses, dashes, *command = arguments
    if dashes != "--" or not command:
        raise SystemExit("usage: python -m headwater.simweb.namespace ADDRESS,… -- COMMAND …")
    configure_loopback(addresses.split(","))
    os.execvp(command[0], command)  # noqa: S606 – becoming the command is the purpose


if __name__ == "__main__":
    main(sys.argv[1:])
