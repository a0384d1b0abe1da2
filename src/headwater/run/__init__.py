"""Roles as processes: loops, signals, supervision."""
