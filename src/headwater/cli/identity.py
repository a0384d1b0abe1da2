"""`headwater identity`: the key that requests are signed with."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import say, show, show_json

if TYPE_CHECKING:
    from headwater.actions.identity import ShownIdentity

app = App(name="identity", help="Sign requests, so that publishers can tell them from an impostor's: init, show.")


@app.command(name="init")
def init(*, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Make the key that requests are signed with, in a file that only its owner may read.

    Nothing is signed until `identity.sign` is set. Needs `headwater[identity]`.
    """
    from headwater.actions.identity import make_identity
    from headwater.clock import SystemClock

    show_identity(make_identity(launch.settings().settings, SystemClock()), json=json)


@app.command(name="show")
def show_keys(*, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Show the public key, where verifiers find it, and what a publisher or its CDN wants to know."""
    from headwater.actions.identity import shown_identity
    from headwater.clock import SystemClock

    show_identity(shown_identity(launch.settings().settings, SystemClock()), json=json)


@app.command(name="rotate")
def rotate(
    *,
    at_once: Annotated[
        bool, Parameter(negative="", help="The key has leaked: neither use nor publish it from now on.")
    ] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Replace the key: the new one is published now and signs in a day; the old one stays published a day longer.

    Running roles notice it within a minute.
    """
    from headwater.actions.identity import rotate_identity
    from headwater.clock import SystemClock

    show_identity(rotate_identity(launch.settings().settings, SystemClock(), at_once=at_once), json=json)


def show_identity(shown: "ShownIdentity", *, json: bool) -> None:
    if json:
        show_json(identity_as_dict(shown))
        return
    from json import dumps

    show(f"Key file    {shown.file}")
    for key in shown.keys:
        until = f", published until {key.published_until:%Y-%m-%d %H:%M} UTC" if key.published_until else ""
        show(f"Key         {key.thumbprint}  {key.state} (from {key.used_from:%Y-%m-%d %H:%M} UTC{until})")
        show(f"            {dumps(key.jwk)}")
    show(f"Directory   {shown.directory or 'none yet'}")
    show("")
    show("For a publisher or its CDN:")
    show(f"  User agent       {shown.identity.user_agent}")
    if shown.directory:
        show(f"  Signature agent  {shown.agent}")
        show(f"  Key directory    {shown.directory}")
    show("  Signatures       Web Bot Auth: RFC 9421, ed25519, tag web-bot-auth, over @authority and signature-agent")
    if shown.addresses:
        show(f"  Addresses        {', '.join(shown.addresses)}")
    if shown.why_not:
        say(shown.why_not)
    elif not shown.is_signing:
        say("Requests are not signed yet. When the directory answers from outside, set identity.sign = true.")


def identity_as_dict(shown: "ShownIdentity") -> dict[str, object]:
    return {
        "user_agent": shown.identity.user_agent,
        "signs": shown.is_signing,
        "signature_agent": shown.agent or None,
        "directory": shown.directory or None,
        "why_not": shown.why_not or None,
        "key_file": str(shown.file),
        "addresses": list(shown.addresses),
        "keys": [
            {
                "thumbprint": key.thumbprint,
                "state": key.state,
                "used_from": key.used_from.isoformat(),
                "published_until": key.published_until.isoformat() if key.published_until else None,
                "jwk": key.jwk,
            }
            for key in shown.keys
        ],
    }
