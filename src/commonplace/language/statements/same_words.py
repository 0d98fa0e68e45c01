"""Two texts of the same words: the same, or with their parts swapped?"""

from collections.abc import Sequence

from commonplace.language.statements.parse import Parsed
from commonplace.language.statements.read import stem_of
from commonplace.language.statements.terms import same_term
from commonplace.language.statements.token import Kind, Token
from commonplace.language.statements.verdict import Comparison, Verdict


def same_bag(old: Parsed, new: Parsed) -> Comparison:
    """The same words: in which order, denied or not, and of which time?"""
    if old.modes != new.modes:
        return Comparison(Verdict.BOTH, "said of another time", words_alike=1.0)
    if old.negations != new.negations:
        return Comparison(Verdict.CHANGED, "negated", words_alike=1.0)
    if _in_order(old.content, new.content) or _moved(old, new) or _listed(old) == _listed(new):
        return Comparison(Verdict.SAME, "the same words", words_alike=1.0)
    return Comparison(Verdict.BOTH, "the same words, with their parts swapped", words_alike=1.0)


def _listed(parsed: Parsed) -> list[str]:
    """The terms, where "A and B" is "B and A"."""
    terms = [t.term for t in parsed.content]
    joints = {t.start for t in parsed.tokens if t.role == "and"}
    hebrew = parsed.language == "he"
    for at in range(1, len(terms)):
        one, other = parsed.content[at - 1], parsed.content[at]
        joined = any(one.end <= start < other.start for start in joints)
        if hebrew and other.word[:1] == "ו" and len(other.word) > 2:
            joined, terms[at] = True, stem_of(other.word[1:], "he")
        if joined:
            terms[at - 1 : at + 1] = sorted(terms[at - 1 : at + 1])
    return terms


def _in_order(old: Sequence[Token], new: Sequence[Token]) -> bool:
    return len(old) == len(new) and all(map(same_term, old, new))


def _moved(old: Parsed, new: Parsed) -> bool:
    """One part stands elsewhere ("On Mondays Dana swims"), or the passive turned it round."""
    before, after = [t.term for t in old.content], [t.term for t in new.content]
    if sorted(before) != sorted(after):
        return False
    passive = _is_passive(old) != _is_passive(new)
    # At the beginning of a text a capital tells nothing; the other text may tell it.
    known = {t.term for p in (old, new) for t in p.content if is_thing(t, p.language)}
    names = [term for term in before if term in known]
    names_after = [term for term in after if term in known]
    if passive:
        return len(names) < 2 or names[0] != names_after[0]
    linked = links(old) and links(new)
    if linked:
        turned = len(names) < 2 or names != names_after
        return _sides(old, turned) == _sides(new, turned)
    if names != names_after:
        return False
    size = len(before)
    start = 0
    while before[start] == after[start]:
        start += 1
    end = size
    while before[end - 1] == after[end - 1]:
        end -= 1
    middle, moved = before[start:end], after[start:end]
    rotations = (middle[n:] + middle[:n] for n in range(1, len(middle)))
    is_rotated = any(rotation == moved for rotation in rotations)
    # Behind the verb, two parts that change places are swapped: "tea to coffee", "coffee to tea".
    to_the_front = start == 0 and len(middle) > 2
    return is_rotated and (to_the_front or any(t.is_value for t in old.content[start:end]))


def _sides(parsed: Parsed, turned: bool) -> list[list[str]]:
    """What stands on either side of "is", whichever comes first; a date may stand on both.

    "Laura's father is Ken" says that Ken is Laura's father, not that Laura is Ken's. Where parts
    are turned round, it counts which of them is behind the other.
    """
    sides: list[list[str]] = [[], []]
    linked = False
    for at, token in enumerate(parsed.tokens):
        following = parsed.tokens[at + 1 : at + 2]
        if token.role in ("copula", "called"):
            linked = True
        elif turned and token.role in ("prep", "by") and not any(t.is_value for t in following):
            sides[linked].append(token.word)
        elif token.term and not token.is_value:
            sides[linked].append(token.term)
    return sorted(map(sorted, sides))


def is_thing(token: Token, language: str) -> bool:
    return token.kind is Kind.NAME or (language in ("he", "ar") and token.kind is Kind.WORD)


def links(parsed: Parsed) -> bool:
    return any(token.role in ("copula", "called") for token in parsed.tokens)


def _is_passive(parsed: Parsed) -> bool:
    return any(token.role == "by" for token in parsed.tokens)
