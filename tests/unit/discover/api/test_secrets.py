"""Secrets are bound to origins, and masked however an answer spells them."""

from base64 import b64encode
from pathlib import Path
from urllib.parse import quote

import orjson
import pytest

from headwater.discover.api.secrets import MASK, echoes_of, read_secrets, require_bound, secrets_from
from headwater.errors import SettingError, UsageError

KEY = 'k/3y+of "öurs" & more'
BOUND = read_secrets("MINE@https://api.example=canary\nLOOSE=canary\nHOME@http://10.0.0.7:8080=canary")


def test_a_line_names_a_secret_its_origins_and_its_value() -> None:
    [secret] = read_secrets("# ours\n\n A@https://one.example,https://two.example:8443 = a=b@c \n").values()
    assert secret.value.get_secret_value() == "a=b@c"
    assert sorted(map(str, secret.origins)) == ["https://one.example", "https://two.example:8443"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("just canary words", "no secret's name on line 1"),
        ("1A=canary", "no secret's name on line 1"),
        ("A@api.example=canary", "no origin such as"),
        ("A@ftp://api.example=canary", "no origin such as"),
        ("A@https://api.example/v1=canary", "no origin such as"),
        ("A@https://u:p@api.example=canary", "no origin such as"),
        ("A@=canary", "no origin such as"),
        ("A=canary\nA@https://api.example=canary", "A a second time on line 2"),
    ],
)
def test_a_line_that_is_not_understood_is_refused_without_its_value(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "secrets"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(SettingError, match=said) as refusal:
        secrets_from(file)
    assert "canary" not in str(refusal.value)
    assert "NAME@https://host=value" in (refusal.value.fix or "")


@pytest.mark.parametrize(
    ("name", "url", "said"),
    [
        ("MINE", "https://stranger.example/", "bound to https://api.example, and is not sent to https://stranger.exam"),
        ("MINE", "https://api.example:8443/", "not sent to https://api.example:8443"),
        ("MINE", "https://www.api.example/", "not sent to https://www.api.example"),
        ("MINE", "https://api.example.stranger.example/", "not sent to"),
        ("MINE", "http://api.example/", "https only"),
        ("MINE", "http://api.example:443/", "https only"),
        ("LOOSE", "https://api.example/", "bound to no origin.*write LOOSE@https://api.example=… in poll.secrets_file"),
        ("UNSET", "http://api.example/", "https only"),
        ("HOME", "http://10.0.0.7/", "https only"),
    ],
)
def test_a_secret_is_refused_to_any_other_origin_with_the_way_to_bind_it(name: str, url: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refusal:
        require_bound([name], url, BOUND)
    assert "canary" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("MINE", "https://api.example/v1/jobs?page=2"),
        ("MINE", "https://API.example:443/"),
        ("HOME", "http://10.0.0.7:8080/jobs"),
        ("UNSET", "https://api.example/"),
    ],
)
def test_a_secret_may_go_to_the_origin_that_it_is_bound_to(name: str, url: str) -> None:
    require_bound([name], url, BOUND)


@pytest.mark.parametrize(
    "said",
    [
        KEY,
        f"in the {KEY} middle",
        quote(KEY),
        quote(KEY, safe=""),
        quote(KEY, safe="").replace("%2F", "%2f"),
        KEY.replace("&", "&amp;").replace('"', "&quot;"),
        b64encode(KEY.encode()).decode(),
        b64encode(f"me:{KEY}".encode()).decode(),
        "\0".join(KEY),
        "".join(f"%{octet:02X}" for octet in KEY.encode()),
    ],
)
def test_whatever_an_answer_repeats_of_a_secret_is_masked(said: str) -> None:
    echoes = echoes_of([KEY], [b64encode(f"me:{KEY}".encode()).decode()])
    for body in (orjson.dumps({"title": said}), b'{"title":"' + _escaped(said) + b'"}'):
        title = orjson.loads(echoes.masked_json(body))["title"]
        assert MASK in title
        assert "öurs" not in title
        assert said not in title


def _escaped(text: str) -> bytes:
    """Every letter as an escape of JSON, as no serialiser of ours would write it."""
    return "".join(f"\\u{ord(letter):04x}" for letter in text).encode()


def test_names_numbers_and_deep_values_are_masked_and_the_rest_stays() -> None:
    echoes = echoes_of(["12345678"])
    document = {"12345678": 12345678, "id": 9912345678001, "deep": [[{"a": "x12345678y"}]], "ok": [True, None, 1.5]}
    masked = orjson.loads(echoes.masked_json(orjson.dumps(document)))
    assert masked == {"***": "***", "id": 9912345678001, "deep": [[{"a": "x***y"}]], "ok": [True, None, 1.5]}
    deep = b"[" * 1_000 + b'"12345678"' + b"]" * 1_000
    assert b"12345678" not in echoes.masked_json(deep)


def test_an_answer_without_a_secret_in_it_stays_byte_for_byte() -> None:
    body = b'{"a": 1, "a": 2, "big": 123456789012345678901234567890}'
    assert echoes_of([KEY]).masked_json(body) is body
    assert echoes_of([KEY]).masked_json(b"<p>no JSON " + KEY.encode()) == b"<p>no JSON ***"


def test_a_short_secret_is_not_looked_for_inside_of_words() -> None:
    assert echoes_of(["abc"]).masked("abcdef") == "abcdef"
