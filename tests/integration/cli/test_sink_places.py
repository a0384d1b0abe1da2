"""`headwater sinks add` that is refused: nothing is left behind, and no two sinks write to one place."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.integration.cli.conftest import Said
from tests.integration.cli.delivery_desk import DeliveryDesk
from tests.integration.cli.desk import assert_a_sentence
from tests.integration.cli.file_sink import installed_kinds

UUID_A, UUID_B = "3Ck1Yq0nQ5yOe8m0C7b6Tg", "9WfY2n0sRlq1aB7c8D9eFg"


class SearchAnswers(BaseHTTPRequestHandler):
    """As Elasticsearch says who it is; every template is there already."""

    def do_GET(self) -> None:
        about = {"cluster_name": "search", "version": {"number": "9.1.0"}, "cluster_uuid": self.server.cluster_uuid}  # type: ignore[attr-defined]
        self.answer(about if self.path == "/" else {"index_templates": []})

    def do_PUT(self) -> None:
        self.answer({"acknowledged": True})

    def answer(self, value: Any) -> None:
        self.server.requests.append(f"{self.command} {self.path}")  # type: ignore[attr-defined]
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: Any) -> None:
        """Standard error is the command's."""


@contextmanager
def search_server(cluster_uuid: str) -> Iterator[ThreadingHTTPServer]:
    """On every address of this machine, so that it has two names."""
    server = ThreadingHTTPServer(("0.0.0.0", 0), SearchAnswers)
    server.cluster_uuid, server.requests = cluster_uuid, []  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> DeliveryDesk:
    return DeliveryDesk(database_url, open_folder)


def add_index(desk: DeliveryDesk, name: str, host: str, port: int, *options: str) -> Said:
    return desk.says("sinks", "add", name, "--type", "elasticsearch", f"url=http://{host}:{port}", *options)


@pytest.mark.parametrize("kind", ["jsonl", "feed"])
def test_a_sink_whose_name_is_taken_leaves_no_folder_behind(desk: DeliveryDesk, kind: str) -> None:
    options = ["url=https://example.org/"] if kind == "feed" else []
    assert desk.says("sinks", "add", "out", "--type", kind, f"folder={desk.home / 'first'}", *options).code == 0
    said = desk.says("sinks", "add", "out", "--type", kind, f"folder={desk.home / 'second'}", *options)
    assert said.code == 2
    assert "There is a sink 'out' already." in said.err
    assert (desk.home / "first").exists()
    assert not (desk.home / "second").exists()


@pytest.mark.parametrize(
    "words", [("sinks", "add", "out", "--type", "filed", "file=out.json"), ("sinks", "test", "out")]
)
def test_no_line_of_the_log_stands_between_the_sentences(
    desk: DeliveryDesk, tmp_path: Path, words: tuple[str, ...]
) -> None:
    with installed_kinds(tmp_path / "site", filed="tests.integration.cli.file_sink:FILED"):
        if words[1] == "test":
            desk.add("out")
        said = desk.says(*words)
        assert said.code == 0, said.err
        assert "file_prepared" not in said.err
        desk.settings["log.level"] = "info"
        assert "file_prepared" in desk.says("sinks", "test", "out").err, "a person who set the level gets the lines"


def test_one_server_under_two_names_is_one_place(desk: DeliveryDesk) -> None:
    with search_server(UUID_A) as server:
        port = server.server_port
        assert add_index(desk, "index", "127.0.0.1", port).code == 0
        server.requests.clear()  # type: ignore[attr-defined]
        said = add_index(desk, "second", "127.0.0.2", port)
        assert said.code == 2
        assert_a_sentence(said)
        assert f"The sink 'index' writes to headwater_raw_content on http://127.0.0.1:{port} already." in said.err
        assert set(server.requests) == {"GET /"}, "nothing is made there"  # type: ignore[attr-defined]
        assert add_index(desk, "other", "127.0.0.2", port, "layout=documents").code == 0, "another place there"
        assert add_index(desk, "third", "localhost", port).code == 2, "a spelling that needs no asking"


def test_two_servers_may_each_have_such_an_index(desk: DeliveryDesk) -> None:
    with search_server(UUID_A) as first, search_server(UUID_B) as second:
        assert add_index(desk, "index", "127.0.0.1", first.server_port).code == 0
        assert add_index(desk, "second", "127.0.0.1", second.server_port).code == 0


def test_a_server_that_cannot_be_asked_is_no_reason_to_refuse_a_sink(desk: DeliveryDesk) -> None:
    with search_server(UUID_A) as server:
        port = server.server_port
        assert add_index(desk, "index", "127.0.0.1", port).code == 0
    assert add_index(desk, "second", "127.0.0.2", port).code == 0
    with search_server("_na_") as first, search_server("_na_") as second:
        assert add_index(desk, "forming", "127.0.0.3", first.server_port).code == 0
        assert add_index(desk, "formed", "127.0.0.3", second.server_port).code == 0


def test_two_sinks_cannot_share_one_of_their_indexes(desk: DeliveryDesk) -> None:
    meili = ("--type", "meilisearch", "jobs_index=jobs")
    assert desk.says("sinks", "add", "a", *meili, "url=http://127.0.0.1:1", "documents_index=one").code == 0
    said = desk.says("sinks", "add", "b", *meili, "url=http://LOCALHOST:1/", "documents_index=two")
    assert said.code == 2
    assert "The sink 'a' writes to jobs on http://127.0.0.1:1 already." in said.err


@pytest.mark.parametrize("kind", ["elasticsearch", "meilisearch", "redis"])
def test_a_port_that_is_none_is_refused(desk: DeliveryDesk, kind: str) -> None:
    scheme = "redis" if kind == "redis" else "http"
    said = desk.says("sinks", "add", "a", "--type", kind, f"url={scheme}://localhost:99999")
    assert said.code == 2
    assert_a_sentence(said)
    assert "should be an address such as" in said.err
