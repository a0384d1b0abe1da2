"""What the simulated web consists of: publishers, their pages over simulated time, and the truth about both."""

from headwater.simweb.world.newsroom import Item
from headwater.simweb.world.publishers import Feed, Publisher, Sitemap
from headwater.simweb.world.templates.guises import GUISE_NAMES, Guise, GuiseName
from headwater.simweb.world.vacancies import Vacancy
from headwater.simweb.world.world import World

__all__ = ["GUISE_NAMES", "Feed", "Guise", "GuiseName", "Item", "Publisher", "Sitemap", "Vacancy", "World"]
