"""The vocabularies of the jobs table: every value, and the words that say it."""

from headwater.extraction.jobs.vocabulary import Vocabulary

# Said outright, in a title or in a field of its own.
LEVELS = Vocabulary(
    {
        "intern": (
            "intern",
            "interns",
            "internship",
            "internships",
            "trainee",
            "traineeship",
            "graduate",
            "apprentice",
            "stagiaire",
            "stage",
            "pasante",
            "pasantía",
            "becario",
        ),
        "junior": ("junior", "jr", "entry", "entry level", "early career"),
        "mid": ("mid", "mid level", "mid career", "intermediate"),
        "senior": ("senior", "senior level", "sr"),
        "lead": ("lead", "team lead", "team leader", "principal"),
        "executive": (
            *("executive director", "executive level", "chief executive", "chief executive officer", "ceo", "cfo"),
            *("coo", "cto", "secretary general", "vice president", "managing director", "country director"),
            *("regional director", "director general", "country representative", "directeur pays", "directrice pays"),
            *("directeur général", "directrice générale", "director de país", "directora de país", "director país"),
            *("directora país", "director ejecutivo", "directora ejecutiva", "directeur exécutif"),
        ),
    }
)
# Only implied by a job's title; the last word of a title is what the person is.
ROLES = Vocabulary(
    {
        "junior": (*("assistant", "associate", "executive assistant", "clerk", "assistante", "asistente", "auxiliar"),),
        "mid": (
            *("specialist", "analyst", "officer", "staff", "coordinator", "co ordinator", "coordinateur"),
            *("coordinatrice", "coordonnateur", "coordonnatrice", "coordinador", "coordinadora", "chargé", "chargée"),
            *("spécialiste", "analyste", "especialista", "analista", "oficial"),
        ),
        "senior": (
            *("manager", "chief", "head", "director", "directeur", "directrice", "responsable", "chef", "gerente"),
            *("directora", "jefe", "jefa"),
        ),
    }
)
STATED_LEVELS = Vocabulary(
    {
        "intern": ("intern", "internship", "trainee", "graduate"),
        "junior": ("junior", "entry", "entry level", "associate", "assistant"),
        "mid": ("mid", "mid level", "mid senior level", "intermediate", "staff"),
        "senior": ("senior", "senior level", "sr", "manager", "director"),
        "lead": ("lead", "principal"),
        "executive": ("executive", "executive level", "c level"),
    }
)

MISSIONS = Vocabulary(
    {
        "": (
            *("health insurance", "health cover", "health benefits", "medical insurance", "medical cover"),
            *("education and experience", "education level", "level of education", "education required"),
            *("education requirements", "education qualifications", "higher education degree", "youth hostel"),
            *("internal communications", "good communications skills", "communications skills", "health and safety"),
            *("office environment", "work environment", "working environment", "team environment"),
        ),
        "health": ("health", "public health", "healthcare", "health care", "medical", "epidemiology", "hiv", "malaria"),
        "education": ("education", "schools", "teacher", "teaching", "literacy"),
        "gender": ("gender", "gender equality", "women", "gbv", "gender based violence"),
        "climate": ("climate", "climate change", "environment", "biodiversity", "conservation"),
        "governance": ("governance", "rule of law", "anti corruption", "elections", "democracy"),
        "human_rights": ("human rights",),
        "wash": ("wash", "water", "sanitation", "hygiene", "water and sanitation"),
        "livelihoods": ("livelihoods", "livelihood"),
        "economic_growth": ("economic growth", "economic development", "private sector development", "microfinance"),
        "peacebuilding": ("peacebuilding", "peace building", "conflict prevention", "reconciliation"),
        "refugees": ("refugee", "refugees", "refugee protection", "asylum", "internally displaced"),
        "urban": ("urban", "urban development", "urban planning", "cities"),
        "infrastructure": ("infrastructure", "roads"),
        "energy": ("energy", "renewable energy", "solar", "electrification"),
        "information_systems": ("information systems", "information management", "gis", "data systems"),
        "communications": ("communications", "media relations", "public information"),
        "youth": ("youth", "young people", "adolescents"),
        "culture": ("culture", "cultural heritage", "heritage"),
        "food_security": ("food security", "food assistance", "agriculture"),
        "innovation": ("innovation",),
        "mel": ("mel", "meal", "monitoring and evaluation", "m & e", "monitoring evaluation and learning"),
        "cross_sector": ("cross sector", "multi sector", "multisectoral"),
    }
)

MODALITIES = Vocabulary(
    {
        "onsite": ("onsite", "on site", "office", "office based", "in person", "in office"),
        "field": ("field", "field based", "field work"),
        "remote": (
            *("remote", "remotely", "fully remote", "remote first", "wfh", "work from home", "work from anywhere"),
            *("telework", "teleworking", "telecommute", "telecommuting", "à distance", "télétravail", "remoto"),
            *("teletrabajo", "teletrabalho", "удалённо", "удалённая работа", "عن بعد"),
        ),
        "hybrid": ("hybrid", "hybride", "híbrido"),
        "home_based": ("home based", "homebased", "home office", "à domicile", "desde casa"),
        "flexible": ("flexible", "flexible location"),
    }
)
# In a title or a place "field" and "office" say what is done and where, not how.
_HOW_IN_TITLE = {
    "remote": (
        *("remote", "fully remote", "work from home", "work from anywhere", "telework", "home office"),
        *("à distance", "télétravail", "remoto", "teletrabajo"),
    ),
    "hybrid": ("hybrid", "hybride", "híbrido"),
    "home_based": ("home based", "homebased"),
}
MODALITIES_IN_TITLE = Vocabulary(_HOW_IN_TITLE)
# In a title it is the home of those who are cared for: "Aide à domicile".
MODALITIES_IN_PLACE = Vocabulary(
    _HOW_IN_TITLE | {"home_based": (*_HOW_IN_TITLE["home_based"], "à domicile", "desde casa")}
)
# A description speaks of offices and fields all the time: there only words that mean nothing else count.
MODALITIES_IN_PROSE = Vocabulary(
    {
        "remote": ("fully remote", "remote position", "remote role", "remote work", "work from home", "work remotely"),
        "hybrid": ("hybrid position", "hybrid role", "hybrid work", "hybrid working"),
        "home_based": ("home based",),
    }
)

_CAREERS = {
    "consultancy": (
        *("consultant", "consultants", "consultancy", "consultancies", "consulting", "consultante", "consultance"),
        *("consultor", "consultora", "consultoría"),
    ),
    "fellowship": ("fellow", "fellows", "fellowship", "fellowships"),
    "internship": ("intern", "interns", "internship", "internships", "traineeship", "stagiaire", "praktikum"),
    "staff": ("staff",),
}
CAREERS = Vocabulary(_CAREERS)
# In a title they may mean what the work is about.
STATED_CAREERS = Vocabulary(
    _CAREERS
    | {
        "consultancy": (*_CAREERS["consultancy"], "contractor", "prestation"),
        "internship": (*_CAREERS["internship"], "trainee", "stage", "pasantía", "prácticas"),
    }
)
CONTRACTS = Vocabulary(
    {
        "full_time": ("full time", "fulltime", "vollzeit", "temps plein", "tiempo completo", "tempo integral"),
        "part_time": ("part time", "parttime", "teilzeit", "temps partiel", "tiempo parcial", "meio período"),
        "project_based": ("project based", "project contract"),
        "short_term": ("short term", "temporary", "temp", "seasonal"),
        "freelance": ("freelance", "freelancer"),
        "volunteer": ("volunteer", "volunteering", "voluntary", "volontariat", "bénévolat", "voluntariado"),
        "fixed_term": ("fixed term", "befristet", "cdd", "limited duration", "durée déterminée", "plazo fijo"),
    }
)
ORG_TYPES = Vocabulary(
    {
        "un": ("un", "united nations", "un agency"),
        "ingo": ("ingo", "international ngo"),
        "ngo": ("ngo", "non profit", "nonprofit", "non governmental organisation", "non governmental organization"),
        "gov": ("gov", "government", "public sector", "ministry"),
        "csr": ("csr", "corporate social responsibility"),
        "foundation": ("foundation",),
        "academic": ("academic", "academia", "university", "research institute"),
        "social_enterprise": ("social enterprise",),
        "network": ("network",),
        "private": ("private", "private sector", "company"),
    }
)

FUNCTIONS = Vocabulary(
    {
        "program_management": (
            *("programme manager", "program manager", "project manager", "programme management", "program management"),
            *("project management", "programme officer", "program officer", "project officer"),
        ),
        "finance": ("finance", "financial", "accountant", "accounting", "budget", "treasury", "audit"),
        "hr": ("hr", "human resources", "recruitment", "talent acquisition", "people and culture"),
        "logistics": ("logistics", "logistician", "supply chain", "procurement", "warehouse", "fleet"),
        "communications": ("communications", "communication", "media", "public relations"),
        "advocacy": ("advocacy", "policy", "campaigns"),
        "research": ("research", "researcher", "evaluation"),
        "it": ("ict", "information technology", "software", "developer", "it officer", "it manager", "it specialist"),
        "admin": ("admin", "administration", "administrative", "secretary", "receptionist"),
        "legal": ("legal", "lawyer", "counsel", "compliance"),
    }
)
BENEFITS = Vocabulary(
    {
        "health_insurance": ("health insurance", "medical insurance", "health cover", "medical cover"),
        "pension": ("pension", "retirement plan", "provident fund", "401k"),
        "relocation": ("relocation", "relocation support", "relocation allowance"),
        "visa_sponsorship": ("visa sponsorship", "visa support", "sponsor visa"),
        "housing": ("housing", "housing allowance", "accommodation provided"),
        "travel": ("travel allowance", "annual flights", "home leave travel"),
        "hazard_pay": ("hazard pay", "danger pay", "hardship allowance"),
    }
)
FLAGS = Vocabulary(
    {
        "disability_friendly": ("disability friendly", "persons with disabilities", "people with disabilities"),
        "gender_friendly": ("women are encouraged", "female candidates are encouraged", "qualified women"),
    }
)
DONORS = Vocabulary(
    {
        "usaid": ("usaid", "u s agency for international development"),
        "giz": ("giz",),
        "eu": ("european union", "european commission", "eu funded", "eu delegation"),
        "world_bank": ("world bank",),
        "adb": ("adb", "asian development bank"),
    }
)
CRISES = Vocabulary(
    {
        "": ("conflict of interest", "conflicts of interest", "conflict resolution"),
        "conflict": ("conflict", "armed conflict", "war"),
        "earthquake": ("earthquake", "earthquakes"),
        "flood": ("flood", "floods", "flooding"),
        "drought": ("drought", "droughts"),
        "epidemic": ("epidemic", "outbreak", "cholera", "ebola"),
        "cyclone": ("cyclone", "hurricane", "typhoon"),
        "displacement": ("displacement", "displaced people", "displaced persons", "internally displaced"),
    }
)
PHASES = Vocabulary(
    {
        "preparedness": ("preparedness",),
        "response": ("emergency response", "humanitarian response", "disaster response", "crisis response"),
        "recovery": ("early recovery", "disaster recovery", "recovery programme", "recovery program"),
        "resilience": ("resilience",),
    }
)
STATED_PHASES = Vocabulary(
    {
        "preparedness": ("preparedness",),
        "response": ("response", "emergency"),
        "recovery": ("recovery", "early recovery"),
        "resilience": ("resilience",),
    }
)
# Spoken of as clusters: the bare words are everybody's.
CLUSTERS = Vocabulary(
    {
        "health": ("health cluster",),
        "wash": ("wash cluster",),
        "shelter": ("shelter cluster", "emergency shelter"),
        "protection": ("protection cluster", "child protection", "protection sector"),
        "cccm": ("cccm", "camp coordination and camp management", "camp management"),
        "nutrition": ("nutrition cluster", "nutrition sector"),
        "education": ("education cluster", "education in emergencies"),
        "food_security": ("food security cluster",),
        "logistics": ("logistics cluster",),
        "early_recovery": ("early recovery cluster", "early recovery"),
    }
)
STATED_CLUSTERS = Vocabulary(
    {
        "health": ("health",),
        "wash": ("wash", "water sanitation and hygiene"),
        "shelter": ("shelter",),
        "protection": ("protection",),
        "cccm": ("cccm", "camp management"),
        "nutrition": ("nutrition",),
        "education": ("education",),
        "food_security": ("food security",),
        "logistics": ("logistics",),
        "early_recovery": ("early recovery",),
    }
)
INTERNATIONAL = Vocabulary({"yes": ("international", "global")})
TRUTHS = Vocabulary({"true": ("true", "yes", "y", "1", "t"), "false": ("false", "no", "n", "0", "f")})


def to_bool(said: str) -> bool | None:
    match TRUTHS.exactly(said):
        case "true":
            return True
        case "false":
            return False
    return None
