"""The facts of one vacancy in the words of the vocabularies; what a vocabulary does not know is kept aside."""

from collections.abc import Mapping

from headwater.extraction.jobs.vocabulary import Vocabulary


class Stated:
    """A stated fact always beats prose, also when it is in nobody's vocabulary: then the answer is unknown."""

    def __init__(self, facts: Mapping[str, str]) -> None:
        self.facts = facts
        self.unknown: dict[str, str] = {}

    def text(self, fact: str) -> str | None:
        return self.facts.get(fact) or None

    def many(self, fact: str, vocabulary: Vocabulary, prose: Vocabulary, *texts: str) -> tuple[str, ...]:
        if said := self.text(fact):
            found = vocabulary.found_in(said)
            if not found:
                self.unknown[fact] = said
            return found
        return next(filter(None, map(prose.found_in, texts)), ())

    def one(self, fact: str, vocabulary: Vocabulary, prose: Vocabulary, *texts: str) -> str | None:
        return next(iter(self.many(fact, vocabulary, prose, *texts)), None)
