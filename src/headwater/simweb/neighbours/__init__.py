"""The hostile neighbour: a publisher like others to look at, whose pages and lists harm the publishers beside it.

Every attack has a name and can be switched on by itself. The words of each carry a canary, `mallory-<attack>-<n>`, by
which they are found again wherever they were stored.
"""

from headwater.simweb.neighbours.neighbourhood import Neighbourhood, beside, plan_against
from headwater.simweb.neighbours.plan import ATTACKS, AttackName, Followed, Plan
from headwater.simweb.neighbours.words import CANARY, canary, canary_of

__all__ = [
    "ATTACKS",
    "CANARY",
    "AttackName",
    "Followed",
    "Neighbourhood",
    "Plan",
    "beside",
    "canary",
    "canary_of",
    "plan_against",
]
