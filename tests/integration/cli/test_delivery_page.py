"""The code of docs/delivery.md runs: a sink of twenty lines, and the receiver's check of a webhook."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.integration.cli.delivery_desk import DeliveryDesk
from tests.integration.cli.file_sink import installed_kinds

from headwater.deliver.sinks.webhook import signature

PAGE = (Path(__file__).parents[3] / "docs" / "delivery.md").read_text("utf-8")
A = "https://a.example/1"


def code_with(word: str) -> str:
    (found,) = (code for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if word in code)
    return str(found)


def test_the_sink_of_the_page_is_installed_filled_and_emptied(
    database_url: str, open_folder: Path, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    (entry,) = re.findall(r'^notes = "(.*)"$', PAGE, re.MULTILINE)
    with installed_kinds(site, notes=entry):
        (site / "notes_sink.py").write_text(code_with("SinkKind("))
        desk = DeliveryDesk(database_url, open_folder)
        desk.source()
        desk.keep(A, "First")
        said = desk.says("sinks", "add", "notes", "--type", "notes", f"folder={tmp_path / 'notes'}")
        assert said.code == 0, said.err
        desk.deliver()
        (note,) = (tmp_path / "notes").iterdir()
        assert note.read_text() == "First\n"
        desk.on_shelf(lambda shelf: shelf.tombstone(A))
        desk.deliver()
        assert not list((tmp_path / "notes").iterdir())


def test_the_receiver_of_the_page_believes_our_signatures_alone() -> None:
    names: dict[str, Any] = {}
    exec(code_with("is_genuine"), names)
    now, body = int(datetime.now(UTC).timestamp()), b'{"type":"document.upsert"}'
    headers = {"webhook-id": "hook:7", "webhook-timestamp": str(now)}
    good = headers | {"webhook-signature": f"v1,other {signature(b'secret', 'hook:7', now, body)}"}
    assert names["is_genuine"]("whsec_c2VjcmV0", good, body)
    assert not names["is_genuine"]("whsec_c2VjcmV0", good, body + b" ")
    late = headers | {"webhook-timestamp": str(now - 1_000)}
    late |= {"webhook-signature": signature(b"secret", "hook:7", now - 1_000, body)}
    assert not names["is_genuine"]("whsec_c2VjcmV0", late, body)
