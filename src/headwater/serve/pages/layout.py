"""The frame of a page: its head, and headers of its answer."""

from starlette.responses import HTMLResponse

from headwater.serve.pages.markup import Markup, element, joined

# Pages run no script, and load nothing from elsewhere.
PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page(title: str, stylesheet: str, *body: Markup) -> Markup:
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("link", rel="stylesheet", href=stylesheet),
    )
    return joined(Markup("<!doctype html>"), element("html", head, element("body", *body), lang="en"))


def answer_with(made: str) -> HTMLResponse:
    return HTMLResponse(made, headers={"content-security-policy": PAGE_POLICY})
