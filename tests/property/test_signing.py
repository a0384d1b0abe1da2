"""Whatever is signed, somebody else reads the same: bases are written by us and verified by http-message-signatures."""

from datetime import UTC, datetime, timedelta

import pytest
from http_message_signatures import InvalidSignature
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.signatures import Message, verified, verified_answer

from headwater.net.keys import KeyRing, new_key
from headwater.net.signing import AgentForm, agent_origin, key_directory, signed_headers
from headwater.urls.canonical import canonicalise

NOW = datetime.now(UTC)
RING = KeyRing((new_key(NOW - timedelta(days=1)),)).rotated(NOW, new_key(NOW))
KEYS = [key.as_public_jwk() for key in RING.keys]

labels = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True)
hosts = st.one_of(
    st.lists(labels, min_size=2, max_size=4).map(lambda parts: ".".join([*parts, "example"])),
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).map(lambda address: f"[{address}]"),
)
ports = st.one_of(st.just(""), st.integers(1, 65_535).filter(lambda port: port != 443).map(lambda port: f":{port}"))
authorities = st.builds(str.__add__, hosts, ports)
forms: st.SearchStrategy[AgentForm] = st.sampled_from(("dictionary", "string"))
nonces = st.one_of(st.just(""), st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True))
paths = st.from_regex(r"/[a-z0-9/_.~-]{0,30}", fullmatch=True)


@settings(max_examples=15, deadline=None)
@given(authorities, hosts, forms, nonces, paths)
def test_every_request_to_an_authority_is_verified_and_none_to_another(
    authority: str, agent_host: str, form: AgentForm, nonce: str, path: str
) -> None:
    agent = agent_origin(f"https://{agent_host}/")
    headers = signed_headers(RING.keys[0], agent, authority, NOW, form, nonce)
    [found] = verified(KEYS, Message(f"https://{authority}{path}", headers), "web-bot-auth")
    assert found.covered_components['"@authority"'] == authority
    assert found.nonce == (nonce or None)
    with pytest.raises(InvalidSignature):
        verified(KEYS, Message(f"https://another.test{path}", headers), "web-bot-auth")


@settings(max_examples=15, deadline=None)
@given(authorities)
def test_every_directory_is_verified_where_it_stands_and_nowhere_else(authority: str) -> None:
    made = key_directory(RING, authority, NOW)
    assert len(verified_answer(KEYS, authority, made.headers, made.body)) == 2
    with pytest.raises(InvalidSignature):
        verified_answer(KEYS, "another.test", made.headers, made.body)


@settings(max_examples=25, deadline=None)
@given(st.lists(labels, min_size=1, max_size=3).map(".".join), ports)
def test_an_agent_is_the_origin_that_a_url_has(name: str, port: str) -> None:
    public = f"https://{name}.example{port}/below"
    assert agent_origin(public) == str(canonicalise(public).origin)
