"""Manners towards every host: slots, delays, closures, backoff, takedowns."""
