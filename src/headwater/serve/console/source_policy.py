"""The pace of a source's own host: what holds and who decided it, with the policy to be changed in place."""

from urllib.parse import quote

from headwater.accounts.role import Role
from headwater.actions.hosts import story_of_host
from headwater.errors import NotFound
from headwater.serve.console.components import empty_state, facts, folded, link, panel
from headwater.serve.console.forms import button, choice_field, form, text_field
from headwater.serve.console.hosts import NUMBERS, paced
from headwater.serve.console.shown import cut, number
from headwater.serve.console.visit import PageVisit
from headwater.serve.pages.markup import Markup, element
from headwater.shapes.hosts import policy_as_dict

TITLE = "Pace of its host"


async def policy_drawer(visit: PageVisit, host: str) -> Markup:
    path = f"/console/hosts/{quote(host, safe='')}"
    try:
        story = await story_of_host(visit.services, host)
    except NotFound:
        return panel(TITLE, empty_state("It was not asked for anything yet."), id_="policy")
    holds = policy_as_dict(story)
    own = holds["own"]
    told = facts([
        ("Between requests", paced(holds["effective_delay_ms"], holds["decided_by"])),
        *((name, number(holds[key])) for key, name in NUMBERS.items() if key != "min_request_interval_ms"),
        ("Pages rendered", Markup("yes" if holds["allow_js"] else "no")),
    ])  # fmt: skip
    page = link("Everything about this host", path)
    if not visit.may(Role.OPERATOR):
        return panel(TITLE, told, element("p", page, class_="note"), note=f"{cut(host, 80)}, now", id_="policy")
    fields = [
        text_field(key, name, "" if own[key] is None else str(own[key]), inputmode="numeric")
        for key, name in NUMBERS.items()
    ]
    renders = "" if own["allow_js"] is None else "yes" if own["allow_js"] else "no"
    asked = form(
        f"{path}/policy",
        visit.csrf_token,
        element("p", "An empty field stays as it is. No policy is quicker than robots.txt allows.", class_="note"),
        *fields,
        choice_field("allow_js", "Render pages", [("", "usual"), ("yes", "yes"), ("no", "no")], renders),
        element("div", button("Set the policy", kind="primary"), page, class_="buttons"),
        class_="form",
    )
    return panel(TITLE, told, folded("Change the policy", asked), note=f"{cut(host, 80)}, now", id_="policy")
