"""By which rules the words of a language are brought to their stems. Pure.

Named as PostgreSQL's configurations, whose SQL view `search_languages` says the same; a language without rules is
searched word for word.
"""

_RULES = """
ar arabic, ca catalan, da danish, de german, el greek, en english, es spanish, eu basque, fi finnish, fr french,
ga irish, hi hindi, hu hungarian, hy armenian, id indonesian, it italian, lt lithuanian, nb norwegian, ne nepali,
nl dutch, nn norwegian, no norwegian, pt portuguese, ro romanian, ru russian, sr serbian, sv swedish, ta tamil,
tr turkish, yi yiddish
"""
RULES_OF_LANGUAGE: dict[str, str] = dict(pair.split() for pair in _RULES.split(","))
WORD_FOR_WORD = "simple"
ALL_RULES = (*sorted(set(RULES_OF_LANGUAGE.values())), WORD_FOR_WORD)


def rules_of(language: str) -> str:
    return RULES_OF_LANGUAGE.get(language, WORD_FOR_WORD)
