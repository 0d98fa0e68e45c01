"""Keys by which a statement finds the ones it could change or repeat."""

from commonplace.language.analyse import analyse
from commonplace.language.statements.parse import parse
from commonplace.language.statements.spoken import language_of, languages_of

_OPEN = 3  # a short text may be in several languages, and is looked for in each


def statement_keys(text: str) -> frozenset[str]:
    """Frame and subject of each claim: "lives_in|dana"."""
    found = set()
    for language in languages_of(text)[:_OPEN]:
        for claim in parse(text, language).claims:
            found.add(claim.key)
            if claim.frame.symmetric:
                ends = sorted(token.term for token in claim.value if token.term)
                found.add(f"{claim.about}|{' '.join(ends)}")
    return frozenset(found)


def subject_terms(text: str) -> tuple[str, ...]:
    """The terms of a kv's subject: "my wifi password" and "the wifi password" have the same."""
    parsed = parse(text, language_of(text))
    found = {_construct(token.term) for token in parsed.content if token.term != "@me"}
    return tuple(sorted(found)) or tuple(sorted(set(analyse(text)))) or (text.casefold(),)


def _construct(term: str) -> str:
    """Hebrew joins two nouns by changing the end of the first: סיסמת נטפליקס, הסיסמה של נטפליקס."""
    return term[:-1] + "ה" if len(term) > 3 and term[-1] == "ת" else term
