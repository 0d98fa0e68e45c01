"""Words that are also names."""

from commonplace.language.past import is_past
from commonplace.language.statements.lexicon import name_words, roles
from commonplace.language.statements.token import Token

_SENTENCE_ENDS = frozenset(".!?:\n")
_VERBAL = frozenset({"copula", "have", "verb", "past", "future", "maybe"})


def is_name_word(tokens: list[Token], at: int, language: str) -> bool:
    """ "Will called Rose": words that are names where they have a capital letter.

    All words have one at the beginning; there only a verb after it makes it a name.
    """
    token = tokens[at]
    if token.word not in name_words(language) or not token.text.istitle():
        return False
    if at and tokens[at - 1].text not in _SENTENCE_ENDS:
        return True
    following = tokens[at + 1].word if at + 1 < len(tokens) else ""
    if roles(language).get(following) in _VERBAL:
        return True
    return following.endswith(("s", "ed")) or is_past(following)
