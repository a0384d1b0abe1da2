"""The meaning of a label, wherever it stands: a term of a list, a column's head, a class name, a key of an API."""

import re
from collections.abc import Sequence

from headwater.extraction.jobs.dates import first_day_in
from headwater.extraction.jobs.vocabulary import Vocabulary, words_of
from headwater.languages import fold

DEADLINES = (
    *("deadline", "closing date", "closing", "closes", "closes on", "application deadline", "apply by"),
    *("apply before", "deadline for applications", "applications close", "closing on", "last date"),
    *("last date to apply", "expires", "expiry date", "expiration date", "end date", "valid through"),
    *("valid until", "bewerbungsfrist", "bewerbungsschluss", "einsendeschluss", "date limite"),
    *("date limite de candidature", "date de clôture", "clôture", "fecha límite", "fecha de cierre"),
    *("date limite de dépôt des candidatures", "date limite de dépôt", "date limite pour postuler", "à pourvoir avant"),
    *(
        "fecha límite de postulación",
        "fecha límite de aplicación",
        "plazo de presentación",
        "cierre",
        "fecha de vencimiento",
    ),
    *("apply until", "open until", "application closing date", "closing date for applications", "date de cloture"),
    *("plazo", "prazo", "data limite", "prazo de candidatura", "encerramento", "срок подачи"),
    *("срок подачи заявок", "последний срок", "آخر موعد", "آخر موعد للتقديم", "الموعد النهائي"),
)

TERMS: dict[str, tuple[str, ...]] = {
    "title": ("title", "name", "position", "job title", "position title", "post title", "role", "vacancy title"),
    "url": ("url", "link", "apply url", "href", "job url"),
    "org_name": (
        *("organisation", "organization", "employer", "company", "company name", "org", "org name", "agency"),
        *("hiring organization", "hiring organisation", "organisation name", "organization name", "arbeitgeber"),
        *("entreprise", "employeur", "empresa", "organización", "organização", "работодатель", "компания"),
        *("employer name", "organisme", "structure", "entidad", "empleador", "institución", "organisation d'accueil"),
    ),
    "location": (
        *("location", "locations", "location raw", "duty station", "place", "place of work", "work location"),
        *("job location", "based in", "where", "arbeitsort", "standort", "ort", "lieu", "lieu de travail"),
        *("job location city", "duty stations", "post location", "localisation", "lieu d'affectation"),
        *("lieu d’affectation", "lieu du poste", "lieu de mission", "basé à", "base", "sede", "localización"),
        *(
            "lugar de destino",
            "lugar de destinación",
            "ubicación del puesto",
            "dienstort",
            "einsatzort",
            "ubicación",
            "lugar",
            "lugar de trabajo",
            "localização",
            "local de trabalho",
        ),
        *("место работы", "местоположение", "الموقع", "مكان العمل"),
    ),
    "country": ("country", "country name", "country iso", "land", "pays", "país", "страна", "البلد"),
    "city": ("city", "town", "stadt", "ville", "ciudad", "cidade", "город", "المدينة"),
    "deadline": DEADLINES,
    "posted": (
        *("posted", "date posted", "posted on", "posted at", "published", "publication date", "opening date"),
        *("published at", "veröffentlicht", "publié le", "publicado", "опубликовано"),
    ),
    "level_norm": ("level", "grade", "seniority", "level norm", "experience level", "career level", "niveau", "nivel"),
    "work_modality": (
        *(
            "modalité",
            "modalité de travail",
            "mode de travail",
            "modalidad de trabajo",
            "remote",
            "work mode",
            "work type",
        ),
        *("work modality", "modality", "working mode", "workplace type", "remote status", "work arrangement"),
        *("workplace", "job location type", "arbeitsmodell", "modalidad", "modalidade"),
    ),
    "contract_type": (
        *("contract", "contract type", "type of contract", "job type", "appointment type", "vertragsart"),
        *("type de contrat", "tipo de contrato", "тип договора", "contrat", "contrato", "nature du contrat"),
    ),
    "employment_type": ("employment type", "employment", "schedule type"),
    "career_type": ("career type", "vacancy type", "type of appointment"),
    "mission_tags": (
        *("mission", "missions", "mission tags", "sector", "sectors", "theme", "themes", "thematic area"),
        *("category", "categories", "field of work", "section"),
    ),
    "functional_tags": ("function", "functions", "functional tags", "functional area", "department", "job family"),
    "salary": (
        *("salary", "salary range", "compensation", "pay", "remuneration", "stipend", "wage", "gehalt"),
        *("vergütung", "salaire", "rémunération", "salario", "salário", "remuneración", "зарплата", "оклад"),
    ),
    "salary_min": ("salary min", "min salary", "salary from", "compensation min"),
    "salary_max": ("salary max", "max salary", "salary to", "compensation max"),
    "salary_currency": ("salary currency", "currency", "compensation currency"),
    "salary_period": ("salary period", "pay period", "salary unit", "salary interval"),
    "description": (
        *("description", "summary", "excerpt", "body", "content", "details", "job description", "snippet"),
    ),
    "application_form": ("apply", "application url", "application link", "apply link", "application form"),
    "benefits": ("benefits", "job benefits", "perks"),
    "policy_flags": ("policy flags",),
    "work_hours": ("work hours", "working hours", "hours", "hours per week"),
    "contract_duration": (
        *("contract duration", "duration", "duration of contract", "length of contract", "contract length"),
        *("contract duration months", "durée", "durée du contrat", "duración", "duración del contrato"),
    ),
    "international_eligible": ("international eligible", "international applicants", "open to international"),
    "org_type": ("org type", "organisation type", "organization type", "type of organisation"),
    "donor_context": ("donor", "donors", "donor context", "funded by"),
    "crisis_type": ("crisis", "crisis type", "emergency type"),
    "response_phase": ("response phase", "phase"),
    "humanitarian_cluster": ("cluster", "clusters", "humanitarian cluster"),
    "surge_required": ("surge", "surge required"),
    "region_code": ("region code",),
    "project_modality": ("project modality",),
    "procurement_vehicle": ("procurement vehicle",),
    "deployment_timeframe": ("deployment timeframe", "deployment"),
    "duty_station_hardship": ("duty station hardship", "hardship", "hardship level"),
    "contract_urgency": ("contract urgency", "urgency"),
}
LABELS = Vocabulary(TERMS)
# Facts that running text labels with a colon; the others' names are words of every text.
TOLD_IN_PROSE = (
    *("org_name", "location", "country", "city", "deadline", "posted", "level_norm", "work_modality", "contract_type"),
    *("employment_type", "salary", "contract_duration", "work_hours"),
)
LABELS_IN_PROSE = tuple(term for fact in TOLD_IN_PROSE for term in TERMS[fact])
# They say nothing we keep, and end what stands before them.
OTHER_LABELS = (
    *("reports to", "reporting to", "supervisor", "responsibilities", "key responsibilities", "requirements"),
    *("qualifications", "skills", "experience", "education", "languages", "about us", "about the role", "purpose"),
    *(
        "background",
        "job purpose",
        "how to apply",
        "to apply",
        "job id",
        "reference",
        "ref",
        "start date",
        "department",
    ),
    *("type", "sector", "category", "job description", "description", "summary", "contact", "email", "website"),
    *("title", "job title", "position", "post", "poste", "puesto", "cargo", "titre", "intitulé du poste"),
    *("référence", "missions", "profil", "description du poste", "date de début", "comment postuler", "contexte"),
    *("referencia", "requisitos", "funciones", "perfil", "descripción", "cómo aplicar", "fecha de inicio"),
)
# Heads of the column with the titles, in a table that lists vacancies; elsewhere these words label other things.
_TITLE_HEADS = Vocabulary(
    {
        "title": (
            *(
                "job title",
                "job",
                "position",
                "position title",
                "post",
                "post title",
                "vacancy",
                "vacancy title",
                "role",
            ),
            *("poste", "intitulé du poste", "titre du poste", "intitulé", "offre", "offre d'emploi", "emploi"),
            *("stelle", "stellenbezeichnung", "stellentitel", "puesto", "cargo", "vacante", "empleo", "oferta"),
            *("vaga", "função", "posizione", "offerta di lavoro", "vacature", "functie"),
        )
    }
)
_PREFIXES = frozenset({"job", "vacancy", "position", "posting", "career", "listing", "item"})
_PLACES = frozenset({"location", "country", "city"})
_LONGEST_LABEL = 60
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DEADLINE = re.compile(rf"\b(?:{'|'.join(sorted(map(fold, DEADLINES), key=len, reverse=True))})\b")
_NEAR = 60


def fact_named(label: str) -> str:
    """The fact a label announces, or nothing; `job-location` and `Location:` announce the same."""
    if len(label) > _LONGEST_LABEL:
        return ""
    words = words_of(_HUMP.sub(" ", label).rstrip(" :*\u00a0"))
    if fact := LABELS.exactly(" ".join(words)):
        return fact
    return LABELS.exactly(" ".join(words[1:])) if words and words[0] in _PREFIXES else ""


def column_named(head: str) -> str:
    """The same for the head of a column."""
    return fact_named(head) or _TITLE_HEADS.exactly(head.rstrip(" :*\u00a0"))


def heads_vacancies(heads: Sequence[str]) -> bool:
    """Whether a table with these heads lists vacancies: a job's title beside a place or a deadline. What is only called
    "title" or "name" may be a document or a colleague, unless there is a deadline."""
    facts = set(map(column_named, heads))
    has_jobs = any(_TITLE_HEADS.exactly(head) for head in heads)
    return "title" in facts and ("deadline" in facts or (has_jobs and not facts.isdisjoint(_PLACES)))


def deadline_in_prose(text: str) -> str:
    """The words after one for deadline, if a day is among them."""
    plain = fold(text)
    near = (plain[label.end() : label.end() + _NEAR] for label in _DEADLINE.finditer(plain))
    return next((said.strip(" :") for said in near if first_day_in(said)), "")
