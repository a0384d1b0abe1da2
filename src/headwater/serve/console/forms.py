"""Forms: what is sent by one, how one is made, and the page that asks again before something is lost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request

from headwater.errors import UsageError
from headwater.serve.access.origins import MOST_FIELDS
from headwater.serve.access.visits import FORM
from headwater.serve.console.shell import csrf_field
from headwater.serve.pages.markup import Markup, element, joined

CONFIRMED = "confirmed"
LONGEST_LINE = 2_100
NOTHING = Markup("")


@dataclass(frozen=True, slots=True)
class FormFields:
    """What a form sent: texts by name, of which several may have the same name."""

    sent: Sequence[tuple[str, str]]

    def get(self, name: str, otherwise: str = "") -> str:
        """Without space around it; of several the last."""
        return next((value.strip() for key, value in reversed(self.sent) if key == name), otherwise)

    def all(self, name: str) -> list[str]:
        return [value.strip() for key, value in self.sent if key == name and value.strip()]

    def has(self, name: str) -> bool:
        return any(key == name for key, _ in self.sent)

    @property
    def is_confirmed(self) -> bool:
        return self.get(CONFIRMED) == "yes"

    def again(self) -> list[tuple[str, str]]:
        """To be sent once more, when a person has confirmed it."""
        return [(name, value) for name, value in self.sent if name not in ("csrf_token", CONFIRMED)]


async def read_fields(request: Request) -> FormFields:
    """Raises UsageError for a body that is no form."""
    if not FORM.fullmatch(request.headers.get("content-type", "")):
        raise UsageError("This is sent by a form of a page.", fix="Programs use the API: /api/docs")
    try:
        # Browsers send lines as `\r\n`.
        text = (await request.body()).decode()
        sent = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise UsageError(f"The form is not UTF-8, or has more than {MOST_FIELDS:,} fields.") from None
    return FormFields([(name, value.replace("\r\n", "\n").replace("\x00", "")) for name, value in sent])


Fields = Annotated[FormFields, Depends(read_fields)]


def form(action: str, csrf_token: str, *inside: str, class_: str = "", label: str = "") -> Markup:
    """One that changes something."""
    return element(
        "form", csrf_field(csrf_token), *inside, method="post", action=action, class_=class_, aria_label=label
    )


def button(told: str, *, kind: str = "", name: str = "", value: str = "", key: str = "") -> Markup:
    """`kind`: primary, danger, quiet, or nothing of them."""
    return element("button", told, type="submit", class_=kind, name=name, value=value, data_key=key)


def action_button(
    action: str, csrf_token: str, told: str, fields: Mapping[str, str] | None = None, *, kind: str = "", about: str = ""
) -> Markup:
    """A form of a single button. `about`: what it is done to, for readers of screens."""
    sent = [hidden(name, value) for name, value in (fields or {}).items()]
    unseen = element("span", f" {about}", class_="unseen") if about else NOTHING
    return form(action, csrf_token, *sent, button(joined(told, unseen), kind=kind), class_="one-button")


def hidden(name: str, value: str) -> Markup:
    # An empty value is sent as well.
    return element("input", type="hidden", name=name, value=value)


def text_field(name: str, label: str, value: str = "", *, hint: str = "", error: str = "", **more: str) -> Markup:
    """`more` are attributes of the field, such as `type="password"` or `required="required"`."""
    usual = {"type": "text", "maxlength": str(LONGEST_LINE), "autocomplete": "off"}
    asked = element(
        "input", name=name, id=f"field-{name}", value=value, **(usual | more), **_described(name, hint, error)
    )
    return _field(name, label, asked, hint, error)


def text_area(
    name: str, label: str, value: str = "", *, hint: str = "", error: str = "", rows: int = 6, takes_file: str = ""
) -> Markup:
    """`takes_file`: endings of files that the script offers to read into it, such as `.opml,.csv`."""
    asked = element(
        "textarea",
        # A first line break would be taken for that of the markup.
        f"\n{value}",
        name=name,
        id=f"field-{name}",
        rows=str(rows),
        spellcheck="false",
        data_takes_file=takes_file,
        **_described(name, hint, error),
    )
    return _field(name, label, asked, hint, error, "wide")


def choice_field(
    name: str, label: str, choices: Iterable[tuple[str, str]], value: str = "", *, hint: str = "", error: str = ""
) -> Markup:
    options = [_option(one, told, is_chosen=one == value) for one, told in choices]
    asked = element("select", *options, name=name, id=f"field-{name}", **_described(name, hint, error))
    return _field(name, label, asked, hint, error)


def _option(value: str, told: str, *, is_chosen: bool) -> Markup:
    # Without a value of its own an option would be sent as its text.
    return Markup(f'<option value="{escape(value)}"{" selected" if is_chosen else ""}>{escape(told)}</option>')


def check_field(name: str, label: str, *, is_set: bool = False, hint: str = "", value: str = "yes") -> Markup:
    box = element("input", type="checkbox", name=name, value=value, checked="checked" if is_set else "")
    told = element("span", hint, class_="hint") if hint else NOTHING
    return element("label", box, element("span", label, told), class_="check")


def _described(name: str, hint: str, error: str) -> dict[str, str]:
    ids = [f"{name}-hint" if hint else "", f"{name}-error" if error else ""]
    return {"aria_describedby": " ".join(filter(None, ids)), "aria_invalid": "true" if error else ""}


def _field(name: str, label: str, asked: Markup, hint: str, error: str, class_: str = "") -> Markup:
    told = element("p", hint, class_="hint", id=f"{name}-hint") if hint else NOTHING
    wrong = element("p", error, class_="error", id=f"{name}-error") if error else NOTHING
    kind = f"field {class_} {'wrong' if error else ''}"
    return element(
        "div", element("label", label, for_=f"field-{name}"), asked, told, wrong, class_=" ".join(kind.split())
    )


def error_summary(*sentences: str) -> Markup:
    """Above a form that was not carried out."""
    told = [element("li", one) for one in sentences]
    return element("div", element("p", "This was not done."), element("ul", *told), class_="errors", role="alert")


def confirm_form(
    action: str,
    csrf_token: str,
    fields: Iterable[tuple[str, str]],
    *facts: str,
    verb: str,
    back: str,
    typed: str = "",
    asks: Markup = NOTHING,
) -> Markup:
    """The body of a page that asks again: what it would do, with counts. `typed` has to be typed for the worst;
    `asks` is a field of its own.
    """
    listed = element("ul", *(element("li", one) for one in facts), class_="facts")
    asked = text_field("typed", f"Type {typed} to confirm", required="required") if typed else NOTHING
    return form(
        action,
        csrf_token,
        listed,
        *(hidden(name, value) for name, value in fields),
        hidden(CONFIRMED, "yes"),
        asked,
        asks,
        element("div", button(verb, kind="danger"), element("a", "Cancel", href=back), class_="buttons"),
        class_="confirm",
    )
