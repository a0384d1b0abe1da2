"""The API of an installation for programs in Python. `docs/library.md` is its page.

    with headwater.client.Client("http://127.0.0.1:8080", token="…") as client:
        for one in client.iter_operations():
            print(one["kind"], one["state"])

Nothing heavy is imported: no framework, no driver, nothing beyond the standard library and orjson.
"""

from headwater.client.client import Client
from headwater.client.problems import ServerProblem

__all__ = ["Client", "ServerProblem"]
