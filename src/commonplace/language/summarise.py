"""One line that stands for a text, made of the text's own words."""

from commonplace.language.analyse import analyse
from commonplace.language.sentences import sentences
from commonplace.model.text import stored_form

# A sentence with fewer terms is a greeting, a thank-you or a heading.
_TELLING_TERMS = 3
_MOST_SENTENCES = 2
_ELLIPSIS = "…"


def summarise(text: str, limit: int = 160) -> str:
    """The text when it is one or two short sentences, else its first that says something."""
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    whole = stored_form(text)
    short = len(whole) <= limit and "\n" not in whole
    if short and len(sentences(whole)) <= _MOST_SENTENCES:
        return whole
    return _cut(" ".join(_telling_sentence(whole).split()), limit)


def _telling_sentence(text: str) -> str:
    """Writers say the main thing first, so the first sentence wins unless it is trivial."""
    found = sentences(text)
    sizes = [len(analyse(sentence)) for sentence in found]
    for sentence, size in zip(found, sizes, strict=True):
        if size >= _TELLING_TERMS:
            return sentence
    return found[sizes.index(max(sizes))]


def _cut(line: str, limit: int) -> str:
    """At most `limit` characters, cut after a whole word where there is one."""
    if len(line) <= limit:
        return line
    room = limit - len(_ELLIPSIS)
    head = line[: room + 1]
    at_word = head[: head.rfind(" ")] if " " in head else line[:room]
    return at_word.rstrip(" ,;:-–—") + _ELLIPSIS
