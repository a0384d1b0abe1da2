"""One URL from lease to verdict."""
