"""The web role: what programs and people reach over HTTP. `app.py` puts it together, `api/` has a file per resource."""
