"""The files people bring their sources in and take them away in. Pure: bytes in, rows out, and back."""
