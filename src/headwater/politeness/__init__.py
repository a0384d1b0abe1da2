"""What every host may expect of us: slots, delays, closures, backoff, takedowns."""
