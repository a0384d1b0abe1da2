"""Signatures as somebody else reads them: the package http-message-signatures, which shares no line with ours."""

from base64 import urlsafe_b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, VerifyResult, algorithms


@dataclass(frozen=True)
class Message:
    """A request, or an answer to one: then it has a status."""

    url: str
    headers: Mapping[str, str]
    method: str = "GET"


class PublishedIn(HTTPSignatureKeyResolver):
    """Keys as a directory lists them."""

    def __init__(self, keys: Sequence[Mapping[str, Any]]) -> None:
        self._keys = {key["kid"]: Ed25519PublicKey.from_public_bytes(urlsafe_b64decode(f"{key['x']}=")) for key in keys}

    def resolve_public_key(self, key_id: str) -> Ed25519PublicKey:
        return self._keys[key_id]

    def resolve_private_key(self, key_id: str) -> Any:
        raise NotImplementedError


def verified(keys: Sequence[Mapping[str, Any]], message: Any, tag: str) -> list[VerifyResult]:
    """Raises InvalidSignature."""
    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=PublishedIn(keys))
    return verifier.verify(message, expect_tag=tag)


def verified_answer(
    keys: Sequence[Mapping[str, Any]], authority: str, headers: Mapping[str, str], body: bytes
) -> list[VerifyResult]:
    """Of a directory, as a verifier reads it that asked for it at `authority`."""
    asked = Message(f"https://{authority}/.well-known/http-message-signatures-directory", {})
    answer = SimpleNamespace(status_code=200, headers=headers, request=asked, url=asked.url)
    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=PublishedIn(keys))
    return verifier.verify(answer, expect_tag="http-message-signatures-directory", body=body)
