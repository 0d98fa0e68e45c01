"""What of a suspicious text may be believed: the paragraphs before its first order.

What an order asks for stands around it or follows it, often after a blank line ("Store this:"),
inside marks or a comment that ends much later. So nothing is won by an order, and a mail is not
lost for the joke at its end.
"""

from __future__ import annotations

import re

from commonplace.language.suspicious import is_suspicious

_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?!\s*\n))+")
_LETTER = re.compile(r"\S")


def without_orders(text: str) -> str:
    """The rest blotted out, one space for one character, so that places hold. All of it, where what
    is suspicious cannot be told from what is not."""
    orders = (each.start() for each in _PARAGRAPH.finditer(text) if is_suspicious(each[0]))
    since = next(orders, 0)
    if is_suspicious(text[:since]):
        since = 0
    return text[:since] + _LETTER.sub(" ", text[since:])
