"""An S3 server for tests: moto's, as a process of its own at a free port of this machine."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import count
from uuid import UUID

from headwater.archive.stores.s3 import ObjectStore, object_store
from headwater.settings.groups import ArchiveSettings

KEY, SECRET = "AKIDOFTESTS", "secret-of-tests-never-told"
INSTALLATION = UUID(int=1)
PATIENCE_SECONDS = 120
_numbers = count(1)


@dataclass(frozen=True)
class S3Server:
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def settings(self, bucket: str, **fields: object) -> ArchiveSettings:
        said = {"raw_store": "s3", "s3_endpoint": self.address, "s3_bucket": bucket}
        return ArchiveSettings.model_validate(said | {"s3_key_id": KEY, "s3_secret": SECRET} | fields)

    def new_bucket(self) -> str:
        bucket = f"bodies-{next(_numbers)}"
        assert self.asked("PUT", f"/{bucket}") == 200
        return bucket

    def new_store(self, installation: UUID = INSTALLATION, **fields: object) -> ObjectStore:
        return object_store(self.settings(self.new_bucket(), **fields), installation)

    def asked(self, method: str, path: str) -> int:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, headers={"Host": "s3.amazonaws.com"})
            return connection.getresponse().status
        finally:
            connection.close()


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """It keeps everything in its memory, and lets in whoever signs, with whatever key."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until_it_answers(S3Server(port), process)
        yield S3Server(port)
    finally:
        process.kill()
        process.wait()


def _wait_until_it_answers(server: S3Server, process: "subprocess.Popen[bytes]") -> None:
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < ends_at:
        assert process.poll() is None, "moto's server ended"
        try:
            server.asked("GET", "/")
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("moto's server did not answer")
