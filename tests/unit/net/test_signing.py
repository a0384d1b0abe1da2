"""Which key signs when, what is signed, and how long it serves. Verified by an implementation that is not ours."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from http_message_signatures import InvalidSignature
from tests.clocks import ManualClock
from tests.signatures import Message, verified, verified_answer

from headwater.errors import Busy, NotFound, SettingError, UsageError
from headwater.log import make_logger
from headwater.net.keys import KeyRing, new_key, read_keys, write_keys
from headwater.net.signing import KeyFile, RequestSigner, agent_origin, key_directory, signed_headers

DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
NOW = datetime.now(UTC).replace(microsecond=0)
AGENT = "https://crawler.example"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "identity.json"


def signer_on(file: Path, clock: ManualClock, *, is_once: bool = False) -> RequestSigner:
    return RequestSigner(KeyFile(file, clock, make_logger("error", "json")), AGENT, is_once=is_once)


def jwks(ring: KeyRing, now: datetime = NOW) -> list[dict[str, str | int]]:
    return [key.as_public_jwk() for key in ring.published_at(now)]


def test_a_key_is_named_by_the_thumbprint_of_the_standard(file: Path) -> None:
    """The example of RFC 8037, appendix A.3."""
    jwk = {
        "kty": "OKP",
        "crv": "Ed25519",
        "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        "nbf": 0,
    }
    written(file, orjson.dumps({"keys": [jwk]}))
    assert read_keys(file).keys[0].thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def written(file: Path, text: bytes, mode: int = 0o600) -> None:
    file.touch(mode)
    file.chmod(mode)
    file.write_bytes(text)


def test_keys_come_back_as_they_were_written(file: Path) -> None:
    ring = KeyRing((new_key(NOW),)).rotated(NOW, new_key(NOW))
    write_keys(file, ring, is_new=True)
    assert file.stat().st_mode & 0o777 == 0o600
    assert jwks(read_keys(file)) == jwks(ring)
    assert [found.name for found in file.parent.iterdir()] == [file.name]


def test_an_identity_is_never_written_over(file: Path) -> None:
    write_keys(file, KeyRing((new_key(NOW),)), is_new=True)
    before = file.read_bytes()
    with pytest.raises(UsageError, match="There is an identity already"):
        write_keys(file, KeyRing((new_key(NOW),)), is_new=True)
    assert file.read_bytes() == before


D = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"
X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
GOOD = {"kty": "OKP", "crv": "Ed25519", "d": D, "x": X, "nbf": 0}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\x00\xff",
        b"[]",
        b"{}",
        b'{"keys": 7}',
        b'{"keys": []}',
        b'{"keys": ["d"]}',
        b"[" * 100_000,
        *(
            orjson.dumps({"keys": keys})
            for keys in (
                [GOOD] * 3,
                [GOOD | {"d": D[:-2]}],
                [GOOD | {"d": "*" * 43}],
                [GOOD | {"d": None}],
                [GOOD | {"x": D}],
                [GOOD | {"kty": "RSA"}],
                [GOOD | {"nbf": "now"}],
                [GOOD | {"nbf": 2**62}],
                [GOOD | {"nbf": True}],
                [GOOD | {"exp": -1}],
                [{name: GOOD[name] for name in GOOD if name != "nbf"}],
            )
        ),
    ],
)
def test_a_damaged_file_is_told_in_a_sentence_and_not_quoted(file: Path, text: bytes) -> None:
    written(file, text)
    with pytest.raises(SettingError, match="is damaged") as caught:
        read_keys(file)
    told = f"{caught.value.what} {caught.value.fix}"
    assert D not in told
    assert caught.value.__suppress_context__
    assert "headwater identity init" in told


def test_a_file_that_others_may_read_is_refused_with_the_way_out(file: Path) -> None:
    written(file, orjson.dumps({"keys": [GOOD]}), 0o640)
    with pytest.raises(SettingError, match="Others may read the key") as caught:
        read_keys(file)
    assert caught.value.fix == f"Say: chmod 600 {file}"


@pytest.mark.parametrize("place", ["missing.json", "missing/identity.json"])
def test_a_missing_file_says_how_to_make_one(tmp_path: Path, place: str) -> None:
    with pytest.raises(NotFound, match="There is no identity yet") as caught:
        read_keys(tmp_path / place)
    assert caught.value.fix == "Make one: headwater identity init"


def test_a_place_that_cannot_hold_a_key_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot be read: Is a directory"):
        read_keys(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match="cannot be written"):
        write_keys(tmp_path / "file" / "identity.json", KeyRing((new_key(NOW),)), is_new=True)


def test_the_private_half_is_in_no_representation() -> None:
    key = new_key(NOW)
    assert str(key.as_private_jwk()["d"]) not in f"{key!r} {KeyRing((key,))!r} {key.as_public_jwk()}"
    assert "private" not in repr(key)


def test_a_new_key_is_published_a_day_before_it_signs_and_the_old_one_a_day_longer() -> None:
    first, second = new_key(NOW - 100 * DAY), new_key(NOW)
    ring = KeyRing((first,)).rotated(NOW, second)

    def at(days: float) -> tuple[str, set[str]]:
        now = NOW + days * DAY
        return ring.signing_at(now).thumbprint, {key.thumbprint for key in ring.published_at(now)}

    both = {first.thumbprint, second.thumbprint}
    assert at(0) == (first.thumbprint, both)
    assert at(0.99) == (first.thumbprint, both)
    assert at(1.0) == (second.thumbprint, both)
    assert at(1.99) == (second.thumbprint, both)
    assert at(2.0) == (second.thumbprint, {second.thumbprint})


def test_a_second_change_waits_for_the_first() -> None:
    ring = KeyRing((new_key(NOW - DAY),)).rotated(NOW, new_key(NOW))
    with pytest.raises(Busy, match="Two keys are valid"):
        ring.rotated(NOW + 1.5 * DAY, new_key(NOW))
    assert len(ring.rotated(NOW + 2 * DAY, new_key(NOW)).keys) == 2


def test_a_clock_that_is_far_behind_still_has_a_key_that_is_published() -> None:
    ring = KeyRing((new_key(NOW),)).rotated(NOW, new_key(NOW))
    long_ago = NOW - 3650 * DAY
    assert ring.signing_at(long_ago) in ring.published_at(long_ago)


@pytest.mark.parametrize(
    ("public_url", "origin"),
    [
        ("https://Crawler.Example/headwater/", "https://crawler.example"),
        ("https://crawler.example:443", "https://crawler.example"),
        ("https://crawler.example:8443/", "https://crawler.example:8443"),
        ("https://[2001:DB8::1]/", "https://[2001:db8::1]"),
    ],
)
def test_the_agent_is_the_origin_of_the_public_address(public_url: str, origin: str) -> None:
    assert agent_origin(public_url) == origin


@pytest.mark.parametrize("public_url", ["", "http://crawler.example", "https:///path"])
def test_without_an_https_address_there_is_no_agent(public_url: str) -> None:
    with pytest.raises(SettingError, match="no https address"):
        agent_origin(public_url)


def test_one_signature_serves_a_host_for_an_hour(file: Path) -> None:
    ring = KeyRing((new_key(NOW - DAY),))
    write_keys(file, ring, is_new=True)
    clock = ManualClock(NOW)
    signer = signer_on(file, clock)
    first = signer.lines_for("a.test")
    assert signer.lines_for("b.test") != first
    clock.move(HOUR - MINUTE)
    assert signer.lines_for("a.test") is first
    clock.move(MINUTE)
    assert signer.lines_for("a.test") != first


def test_a_clock_that_is_set_back_sends_no_signature_of_the_future(file: Path) -> None:
    write_keys(file, KeyRing((new_key(NOW - 10 * DAY),)), is_new=True)
    clock = ManualClock(NOW + DAY)
    signer = signer_on(file, clock)
    first = signer.lines_for("a.test")
    clock.move(-DAY)
    assert signer.lines_for("a.test") != first


def test_every_signature_with_a_nonce_is_another(file: Path) -> None:
    ring = KeyRing((new_key(NOW - DAY),))
    write_keys(file, ring, is_new=True)
    signer = signer_on(file, ManualClock(NOW), is_once=True)
    heads = [headers_in(signer.lines_for("a.test")) for _ in range(3)]
    found = [verified(jwks(ring), Message("https://a.test/", head), "web-bot-auth")[0] for head in heads]
    assert len({one.nonce for one in found}) == 3


def headers_in(lines: object) -> dict[str, str]:
    assert isinstance(lines, dict)
    return dict(line.rstrip("\r\n").split(": ", 1) for line in lines.values())


def test_a_running_process_takes_a_replaced_key_within_a_minute(file: Path) -> None:
    old, new = KeyRing((new_key(NOW - DAY),)), KeyRing((new_key(NOW - DAY),))
    write_keys(file, old, is_new=True)
    clock = ManualClock(NOW - MINUTE)
    signer = signer_on(file, clock)
    signer.lines_for("a.test")
    write_keys(file, new, is_new=False)
    clock.move(MINUTE)
    head = Message("https://a.test/", headers_in(signer.lines_for("a.test")))
    assert verified(jwks(new), head, "web-bot-auth")


def _removed(file: Path) -> None:
    file.unlink()


def _damaged(file: Path) -> None:
    file.write_bytes(b"{}")


def _shown(file: Path) -> None:
    file.chmod(0o644)


@pytest.mark.parametrize("harm", [_removed, _damaged, _shown])
def test_a_running_process_goes_on_with_the_key_it_has(
    file: Path, harm: Callable[[Path], None], capfd: pytest.CaptureFixture[str]
) -> None:
    ring = KeyRing((new_key(NOW - DAY),))
    write_keys(file, ring, is_new=True)
    clock = ManualClock(NOW)
    signer = RequestSigner(KeyFile(file, clock, make_logger("info", "json")), AGENT)
    harm(file)
    for _ in range(5):
        clock.move(2 * HOUR)
        lines = signer.lines_for("a.test")
        assert "signature" in lines
    assert capfd.readouterr().err.count("identity_not_read") == 1


def test_hosts_without_end_do_not_fill_the_memory(file: Path) -> None:
    write_keys(file, KeyRing((new_key(NOW - DAY),)), is_new=True)
    signer = replace(signer_on(file, ManualClock(NOW)), most_hosts=3)
    first = [signer.lines_for(f"h{number}.test") for number in range(5)]
    assert len(signer._signed) == 3
    assert signer.lines_for("h4.test") is first[4]
    assert signer.lines_for("h0.test") is not first[0]


def test_the_directory_proves_each_of_its_keys(file: Path) -> None:
    ring = KeyRing((new_key(NOW - DAY),)).rotated(NOW, new_key(NOW))
    made = key_directory(ring, "crawler.example", NOW)
    keys = orjson.loads(made.body)["keys"]
    assert [key["kid"] for key in keys] == [key.thumbprint for key in ring.keys]
    assert not [key for key in keys if "d" in key]
    found = verified_answer(keys, "crawler.example", made.headers, made.body)
    assert [one.parameters["keyid"] for one in found] == [key["kid"] for key in keys]
    # A gzipped body would not be what the digest is of.
    assert len(made.body) < 1_000


def test_a_directory_that_somebody_copied_or_changed_is_worth_nothing() -> None:
    ring = KeyRing((new_key(NOW - DAY),))
    made = key_directory(ring, "crawler.example", NOW)
    with pytest.raises(InvalidSignature):
        verified_answer(jwks(ring), "thief.example", made.headers, made.body)
    with pytest.raises(InvalidSignature):
        verified_answer(jwks(ring), "crawler.example", made.headers, made.body + b" ")


@pytest.mark.parametrize("form", ["dictionary", "string"])
def test_nothing_that_is_signed_may_be_changed(form: str) -> None:
    ring = KeyRing((new_key(NOW - DAY),))
    headers = signed_headers(ring.keys[0], AGENT, "a.test", NOW, form)  # type: ignore[arg-type]
    assert verified(jwks(ring), Message("https://a.test/any?where", headers), "web-bot-auth")
    changed = {
        "Signature-Agent": headers["Signature-Agent"].replace("crawler", "thief"),
        "Signature-Input": headers["Signature-Input"].replace("expires=1", "expires=2"),
    }
    for name, value in changed.items():
        assert value != headers[name]
        with pytest.raises(InvalidSignature):
            verified(jwks(ring), Message("https://a.test/", {**headers, name: value}), "web-bot-auth")
