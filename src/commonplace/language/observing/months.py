"""Months as people write them. Which number a name has; pure data."""

from __future__ import annotations

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
HEBREW_MONTHS = (
    *("ינואר", "פברואר", "מרץ", "אפריל", "מאי", "יוני", "יולי", "אוגוסט", "ספטמבר", "אוקטובר"),
    *("נובמבר", "דצמבר"),
)
_SHORT = {month[:3].lower(): month for month in MONTHS if month != "May"} | {"sept": "September"}
_ALSO = {"מרס": "מרץ"}

WHOLE = "|".join((*MONTHS, *HEBREW_MONTHS, *_ALSO))
# "Jan" is a name, too: it is a month beside a number alone.
SHORT = (
    rf"(?:(?<=\d )|(?<=\d(?:st|nd|rd|th) )|(?<= of ))(?:{'|'.join(_SHORT)})\b\.?"
    rf"|\b(?:{'|'.join(_SHORT)})\b\.?(?=,? \d)"
)
# A day of a month in either order, as it stands behind a weekday: "Monday, 3 March".
DAY_OF_MONTH = (
    rf"(?:the |ה-?)?\d{{1,2}}(?:st|nd|rd|th)? (?:of )?[בל]?(?:{WHOLE}|{'|'.join(_SHORT)})\b"
    rf"|(?:{WHOLE}|{'|'.join(_SHORT)})\.? \d"
)


def month_number(name: str) -> int:
    name = name.rstrip(".")
    if name in HEBREW_MONTHS or name in _ALSO:
        return HEBREW_MONTHS.index(_ALSO.get(name, name)) + 1
    return MONTHS.index(_SHORT.get(name.lower(), name.capitalize())) + 1
