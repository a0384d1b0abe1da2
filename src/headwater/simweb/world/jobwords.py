"""What vacancies are made of: places, roles and the words of the vocabularies people search by."""

from typing import NamedTuple


class Location(NamedTuple):
    city: str
    country: str
    iso: str


class Level(NamedTuple):
    name: str
    title: str  # how a job title says it
    years: str
    employment: str  # schema.org employmentType


LOCATIONS = (
    Location("Nairobi", "Kenya", "KE"),
    Location("Niamey", "Niger", "NE"),
    Location("Abuja", "Nigeria", "NG"),
    Location("Amman", "Jordan", "JO"),
    Location("Geneva", "Switzerland", "CH"),
    Location("Dhaka", "Bangladesh", "BD"),
    Location("Bogotá", "Colombia", "CO"),
    Location("Kathmandu", "Nepal", "NP"),
    Location("Kinshasa", "Democratic Republic of the Congo", "CD"),
    Location("Bissau", "Guinea-Bissau", "GW"),
    Location("Beirut", "Lebanon", "LB"),
    Location("Berlin", "Germany", "DE"),
    Location("Port Moresby", "Papua New Guinea", "PG"),
    Location("Juba", "South Sudan", "SS"),
    Location("Brussels", "Belgium", "BE"),
    Location("Port-au-Prince", "Haiti", "HT"),
)

LEVELS = (
    Level("intern", "{field} Intern", "no", "INTERN"),
    Level("junior", "{field} Assistant", "1", "FULL_TIME"),
    Level("junior", "Junior {field} Associate", "2", "FULL_TIME"),
    Level("mid", "{field} Officer", "4", "FULL_TIME"),
    Level("mid", "{field} Specialist", "5", "TEMPORARY"),
    Level("senior", "Senior {field} Adviser", "8", "FULL_TIME"),
    Level("senior", "{field} Manager", "7", "FULL_TIME"),
    Level("lead", "Team Lead, {field}", "10", "FULL_TIME"),
)

# The field as a title names it, and its mission tag.
FIELDS = (
    ("Public Health", "health"),
    ("Education", "education"),
    ("Water and Sanitation", "wash"),
    ("Climate Adaptation", "climate"),
    ("Gender Equality", "gender"),
    ("Livelihoods", "livelihoods"),
    ("Food Security", "food_security"),
    ("Refugee Protection", "refugees"),
    ("Governance", "governance"),
    ("International Communications", "communications"),
)

# How a page says it, and the vocabulary's word for it.
MODALITIES = (
    ("On-site", "onsite"),
    ("Field", "field"),
    ("Remote", "remote"),
    ("Hybrid", "hybrid"),
    ("Home-based", "home_based"),
)

CONTRACTS = {
    "FULL_TIME": ("Full time", "full_time"),
    "INTERN": ("Fixed term", "fixed_term"),
    "TEMPORARY": ("Short term", "short_term"),
}

DUTIES = (
    "Plan and follow the work of {field} projects in {place} together with local partners.",
    "Write clear reports for donors and for the people who take part in our programmes.",
    "Visit project sites, listen to communities and bring back what we need to change.",
    "Keep budgets, contracts and supplies in order and warn early when something runs late.",
    "Train colleagues and volunteers in simple methods that work under difficult conditions.",
    "Represent the organisation in meetings of the {field} working group.",
    "Collect figures every month and explain what they mean for the next season.",
    "Prepare tenders and check offers according to our purchasing rules.",
    "Take part in the emergency roster and travel at short notice if needed.",
    "Look after the safety of the team and the dignity of everybody we work with.",
)
NEEDS = (
    "You bring {years} years of experience in {field} or in a closely related area.",
    "You speak and write English well; another language of the region is an advantage.",
    "You work calmly when plans change and you ask when something is unclear.",
    "A university degree or a comparable training is expected.",
    "We welcome applications from people of every background.",
)
