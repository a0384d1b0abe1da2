"""Who asks, and what they may do. `gate.py` decides for every request."""
