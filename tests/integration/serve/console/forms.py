"""Forms of pages, sent as a browser sends them; and what a page says, without its markup."""

import re
from html import unescape
from urllib.parse import urlencode

from tests.integration.serve.callers import ApiCaller, Reply

FORM = "application/x-www-form-urlencoded"
HOSTILE = "<script>alert(1)</script> \u202egnp.exe\u202c {{7*7}} \x1b[31m"


async def send(api: ApiCaller, path: str, *sent: tuple[str, str], **fields: str) -> Reply:
    """`sent`: fields of which there are several of one name."""
    body = urlencode([*sent, *fields.items()]).encode()
    return await api.post(path, body, content_type=FORM, origin=api.address)


async def followed(api: ApiCaller, answer: Reply) -> str:
    """The page that a change led to, with what it said of it."""
    assert answer.status == 303, answer.body
    cookies = "; ".join(one.partition(";")[0] for one in answer.headers.getall("set-cookie", []))  # type: ignore[attr-defined]
    page = await api.get(answer.headers["location"], **({"cookie": cookies} if cookies else {}))
    assert page.status == 200, page.body
    return text_of(page)


def text_of(page: Reply) -> str:
    inside = page.body.decode().partition("<body")[2]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", inside.partition(">")[2])).split())


def require_inert(page: Reply) -> None:
    """Nothing of what others wrote has become markup, or hides what it is."""
    html = page.body.decode()
    for sign in ("<script>alert", "\u202e", "\x1b", "javascript:", " style="):
        assert sign not in html, sign
