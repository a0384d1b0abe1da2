"""`X-Hub-Signature`: that a push comes from the hub that was given the secret. Pure."""

import hashlib
import hmac

# In ways that WebSub names; a hub chooses one of them.
METHODS = ("sha1", "sha256", "sha384", "sha512")
LONGEST_HEADER = 200


def is_signed(header: str, secret: str, body: bytes) -> bool:
    """A method that is not ours counts as no signature: nobody could check it."""
    method, _, signature = header[:LONGEST_HEADER].strip().partition("=")
    if method.lower() not in METHODS:
        return False
    ours = hmac.new(secret.encode(), body, getattr(hashlib, method.lower())).hexdigest()
    return hmac.compare_digest(ours.encode(), signature.strip().lower().encode(errors="replace"))
