"""Real search servers for tests: OpenSearch and Elasticsearch, of the packages that Maven has.

`python -m tests.search_servers opensearch` runs one for a person, until Ctrl-C.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

DESCRIPTIONS = Path(__file__).parent / "servers"
KINDS = ("opensearch", "elasticsearch")
FETCHING_SECONDS, STARTING_SECONDS = 900, 180
# Small and quick to start: nothing here is about speed.
JAVA = ("java", "-Xms128m", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
USUAL_PORT = 9200


class NoServer(Exception):
    """It cannot be had on this machine: why, in a few words."""


def has_programs() -> bool:
    return all(map(shutil.which, ("java", "mvn")))


@dataclass
class SearchServer:
    url: str
    process: "subprocess.Popen[bytes]"

    def stop(self) -> None:
        """Its input ends, and so does it; that holds for a test process that is killed, too."""
        assert self.process.stdin
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start_server(kind: str, data: Path, port: int = 0) -> SearchServer:
    """Raises NoServer. `data` is a new folder."""
    home = fetch(kind)
    chosen = port or _free_port()
    command = [
        *JAVA,
        "-cp",
        f"{home}/lib/*",
        str(DESCRIPTIONS / kind / "Server.java"),
        str(home),
        str(data),
        str(chosen),
    ]
    said = data.with_suffix(".log")
    with said.open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log)
    server = SearchServer(f"http://127.0.0.1:{chosen}", process)
    _wait_until_ready(server, said)
    return server


def fetch(kind: str) -> Path:
    """The folder with its jars, fetched once and for all runs."""
    description = DESCRIPTIONS / kind / "pom.xml"
    home = _cache() / f"{kind}-{sha256(description.read_bytes()).hexdigest()[:8]}"
    if home.exists():
        return home
    if not has_programs():
        raise NoServer("Java or Maven is not there")
    home.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=home.parent))
    print(f"Fetching {kind} …", file=sys.stderr)
    copying = f"-DincludeScope=runtime -DoutputDirectory={draft}/lib".split()
    try:
        subprocess.run(
            ["mvn", "-q", "-B", "-f", description, "dependency:copy-dependencies", *copying],
            check=True,
            capture_output=True,
            timeout=FETCHING_SECONDS,
        )
        _lay_out_modules(draft)
        draft.rename(home)
    except (subprocess.SubprocessError, OSError) as error:
        shutil.rmtree(draft)
        if not home.exists():  # or another process was first
            raise NoServer(f"Maven cannot fetch {kind}") from error
    return home


def _lay_out_modules(home: Path) -> None:
    """Elasticsearch loads its HTTP from a folder with a descriptor, and demands a folder for configuration."""
    for jar in home.glob("lib/transport-netty4-[0-9]*.jar"):
        module = home / "modules" / "transport-netty4"
        module.mkdir(parents=True)
        (home / "config").mkdir()
        for part in (*home.glob("lib/netty-*.jar"), jar):
            part.rename(module / part.name)
        with zipfile.ZipFile(module / jar.name) as packed:
            described = packed.read("META-INF/es-plugins/transport-netty4/plugin-descriptor.properties").decode()
        # As a Java module it would need all others to be modules.
        lines = [line for line in described.splitlines() if not line.startswith("modulename")]
        (module / "plugin-descriptor.properties").write_text("\n".join(lines))


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headwater" / "servers"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def _wait_until_ready(server: SearchServer, said: Path) -> None:
    ends_at = time.monotonic() + STARTING_SECONDS
    while time.monotonic() < ends_at:
        if server.process.poll() is not None:
            server.stop()
            raise RuntimeError(f"The server ended at once:\n{said.read_text(errors='replace')[-3000:]}")
        try:
            with urllib.request.urlopen(f"{server.url}/_cluster/health?wait_for_status=green&timeout=5s", timeout=10):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    server.stop()
    raise RuntimeError(f"The server did not answer within {STARTING_SECONDS} s.")


def main(kind: str, port: int = USUAL_PORT) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            server = start_server(kind, Path(folder) / "data", port)
        except NoServer as error:
            sys.exit(str(error))
        print(f"{kind} answers at {server.url}. Ctrl-C stops it and forgets its data.", flush=True)
        try:
            server.process.wait()
        except KeyboardInterrupt:
            server.stop()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
