import re
import sys

from headwater.extraction.text import comparable, count_words, tokens

EVERY_CHARACTER = list(map(chr, range(sys.maxunicode + 1)))
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


def test_of_all_characters_only_letters_and_numbers_are_compared() -> None:
    text = "a".join(EVERY_CHARACTER)
    assert comparable(text) == re.sub(r"[\W_]+", " ", text).strip().casefold()


def test_each_character_of_a_script_without_spaces_is_a_token() -> None:
    unspaced = [character for character in EVERY_CHARACTER if UNSPACED.match(character) and character.isalpha()]
    assert all(tokens(f"ab{character}cd") == ["ab", character, "cd"] for character in unspaced)


def test_two_of_them_are_a_word() -> None:
    assert [count_words(text) for text in ("ab ab", "é ’ab’ ж", "日本語日本語", "กขคง", "豈豈", "ab 日本")] == [
        2,
        3,
        3,
        2,
        1,
        2,
    ]
