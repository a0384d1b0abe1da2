"""Writes the generated part of `headwater.client` from the description of the API: `make client`."""
