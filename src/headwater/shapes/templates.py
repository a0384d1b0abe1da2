"""The learned templates of hosts."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.reports.templates import HostReport, Schooling, TemplateVersion


def learning_as_dict(host_learning: "HostReport") -> dict[str, Any]:
    from headwater.reports.templates import pages_wanted, state_of

    is_waiting = not host_learning.active and not host_learning.learn_at and not host_learning.disabled_at
    more = {"status": state_of(host_learning), "pages_wanted": pages_wanted(host_learning) if is_waiting else None}
    return asdict(host_learning) | more


def schooling_as_dict(found: "Schooling", chosen: "Sequence[TemplateVersion]") -> dict[str, Any]:
    """With the knowledge of some of its versions."""
    known = [template_as_dict(found, one) for one in chosen]
    return learning_as_dict(found.host_learning) | {"known": known, "events": [asdict(one) for one in found.events]}


def template_as_dict(found: "Schooling", one: "TemplateVersion") -> dict[str, Any]:
    from headwater.reports.templates import knowledge_of

    template = found.templates[one.version]
    return {"section": one.section, "version": one.version} | (knowledge_of(template) if template else {})
