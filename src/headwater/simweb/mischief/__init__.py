"""Misbehaviour on demand. Each kind is a frozen value; what it does on the wire is a list of steps."""
