from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.integration.deliver.made import upsert

from headwater.chance import random_from
from headwater.deliver.delivering import wait_after
from headwater.deliver.sinks.webhook import KIND, LARGEST_BODY_BYTES, WebhookOptions, body_of, signature, signing_key
from headwater.errors import SettingError

AT = datetime(2026, 3, 1, tzinfo=UTC)


def test_the_signature_is_that_of_the_specification() -> None:
    key = signing_key("env:X", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    body = b'{"test": 2432232314}'
    assert signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body) == (
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    )


@pytest.mark.parametrize(
    "secret", ["", "hunter2", "whsec_", "whsec_***", b64encode(b"a" * 32).decode(), "whsec_c2hvcnQ="]
)
def test_a_secret_that_cannot_sign_is_told_by_its_name(secret: str) -> None:
    with pytest.raises(SettingError) as caught:
        signing_key("env:HOOK", secret)
    assert "env:HOOK" in caught.value.what
    assert "whsec_$(" in caught.value.fix
    assert len(secret) < 7 or secret not in caught.value.what


def test_secrets_are_never_given_as_options() -> None:
    with pytest.raises(ValidationError, match="names a secret"):
        WebhookOptions(url="https://hook.test/", secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    with pytest.raises(ValidationError, match="holds a password"):
        WebhookOptions(url="https://me:you@hook.test/", secret="env:HOOK")


def test_the_whole_sink_waits_as_the_specification_says_and_looks_twice_before() -> None:
    waits = [wait_after(failures, KIND.waits, None, random_from(1)) for failures in range(1, 14)]
    hours = [timedelta(hours=number) for number in (2, 5, 10, 14, 20, 24, 24, 24)]
    soon = [timedelta(seconds=number) for number in (5, 15, 60)]
    wanted = [*soon, timedelta(minutes=5), timedelta(minutes=30), *hours]
    assert all(least <= wait <= least * 1.1 for least, wait in zip(wanted, waits, strict=True))


TEXTS = st.builds(lambda text, times: text * times, st.text(max_size=4), st.integers(0, 8_000))
VALUES = TEXTS | st.lists(TEXTS, max_size=5) | st.dictionaries(TEXTS, TEXTS, max_size=5)
NAMES = ("title", "url", "summary", "keywords", "metadata", "source_name", "images", "author")


@settings(max_examples=50)
@given(st.fixed_dictionaries(dict.fromkeys(NAMES, VALUES)))
def test_without_the_text_a_body_never_exceeds_its_limit(fields: dict[str, Any]) -> None:
    assert len(body_of(upsert("a", 1 << 62, **fields), AT, include_text=False)) <= LARGEST_BODY_BYTES


def test_identity_is_left_out_last() -> None:
    body = body_of(upsert("a", 1, title="t" * 30_000, summary="s" * 5_000), AT, include_text=False)
    assert b'"left_out":["summary"' in body
    assert b"/a" in body
    assert b'"id":' in body
