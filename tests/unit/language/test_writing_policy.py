"""How facts, events and insights should be written, on a named set of sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.fields.writing_policy import MAX_CHARACTERS, WRITING_RULES, check_writing
from commonplace.language.text.sentences import summarise
from commonplace.model.memory.kinds import Kind

GOOD = {
    Kind.FACT: [
        "The user lives in Haifa.",
        "Dana Levi works at Bank Leumi as a mortgage adviser.",
        "The user is allergic to peanuts.",
        "The capital of France is Paris.",
        "The user's car is a 2019 Toyota Corolla. The licence plate is 12-345-67.",
        "Dr. Cohen sees patients on Mondays and Thursdays.",
        "World War I ended in 1918.",
        "The US office opens at 9:00.",
        "The IT department closes at 17:00.",
        "Project Apollo ships on 2026-09-01.",
        "המשתמש גר בחיפה.",
        "דנה לוי עובדת בבנק לאומי.",
        "הבירה של צרפת היא פריז.",
        "המשתמשת אלרגית לבוטנים.",
        "סוג הדם של המשתמש הוא A+.",
        'הרופא של המשפחה הוא ד"ר כהן. המרפאה נמצאת ברחוב הרצל 5.',
    ],
    Kind.EVENT: [
        "The team decided to postpone the launch to June 2026.",
        "Dana met Yossi on 3 May 2026 and discussed the mortgage.",
        "The user bought a bicycle on 1 March 2026.",
        "The board approved the budget. Dana abstained.",
        "The user said that the meeting will move to Thursday.",
        "The plumber fixed the kitchen sink on 12 April 2026.",
        "Ana and Dan broke up in March 2026.",
        "הצוות החליט לדחות את ההשקה ליוני 2026.",
        "דנה ויוסי נפגשו ב-3 במאי 2026 ודיברו על המשכנתה.",
        "המשתמש קנה אופניים ב-1 במרץ 2026.",
        "הדירקטוריון אישר את התקציב.",
        "השרברב תיקן את הכיור ב-12 באפריל 2026.",
        "המשתמשת התקשרה לבנק וביטלה את הכרטיס.",
    ],
    Kind.INSIGHT: [
        "User shows increased trust when admitting mistakes.",
        "Dana avoids conflict with Yossi in meetings.",
        "The user seems more relaxed on days without meetings.",
        "המשתמש מגלה אמון רב יותר אחרי הודאה בטעות.",
        "דנה נמנעת מעימותים עם יוסי בישיבות.",
    ],
}

BAD = [
    (Kind.FACT, "I live in Haifa.", {"pronoun"}),
    (Kind.FACT, "My car is a Toyota.", {"pronoun"}),
    (Kind.FACT, "She works at the bank.", {"pronoun"}),
    (Kind.FACT, "Dana moved the office to its new home.", {"pronoun"}),
    (Kind.FACT, "I’m allergic to peanuts.", {"pronoun"}),
    (Kind.FACT, "The landlord told us that pets are fine.", {"pronoun"}),
    (Kind.FACT, "Dana and her brother run a shop.", {"pronoun"}),
    (Kind.FACT, "This is important for the project.", {"context"}),
    (Kind.FACT, "The office opened yesterday.", {"context"}),
    (Kind.FACT, "Also the gate is locked at night.", {"context"}),
    (Kind.FACT, "The lease ends next month.", {"context"}),
    (Kind.FACT, "Dana lives here.", {"context"}),
    (Kind.FACT, "The contract says that the rent is due on the…", {"context"}),
    (Kind.FACT, "The new office is amazing.", {"neutral"}),
    (Kind.FACT, "The landlord is an idiot.", {"neutral"}),
    (Kind.FACT, "The office is in Haifa!", {"neutral"}),
    (Kind.FACT, "Unfortunately the shop is closed on Mondays.", {"neutral"}),
    (Kind.FACT, "The user loves pizza 🍕.", {"neutral"}),
    (Kind.FACT, "Where does Dana live?", {"question"}),
    (Kind.FACT, "Dana is here. Yossi is out. Ruth is ill.", {"sentences", "context"}),
    (Kind.FACT, "The shop sells " + "apples and pears and " * 15 + "plums.", {"length"}),
    (Kind.FACT, "אני גר בחיפה.", {"pronoun"}),
    (Kind.FACT, "הרכב שלי הוא טויוטה.", {"pronoun"}),
    (Kind.FACT, "היא עובדת בבנק.", {"pronoun"}),
    (Kind.FACT, "דנה אמרה שאני צודק.", {"pronoun"}),
    (Kind.FACT, "אשתי רופאה.", {"pronoun"}),
    (Kind.FACT, "המשרד נפתח אתמול.", {"context"}),
    (Kind.FACT, "אבל השער נעול בלילה.", {"context"}),
    (Kind.FACT, "החוזה נגמר בחודש הבא, החודש הבא הוא יוני.", {"context"}),
    (Kind.FACT, "המשרד החדש מדהים.", {"neutral"}),
    (Kind.FACT, "בעל הבית אידיוט.", {"neutral"}),
    (Kind.FACT, "איפה דנה גרה?", {"question"}),
    (Kind.INSIGHT, "You seem to trust me more.", {"pronoun"}),
    (Kind.INSIGHT, "He was crazy about the idea.", {"pronoun", "neutral"}),
    (Kind.INSIGHT, "נראה שהוא סומך עליי.", {"pronoun"}),
    (Kind.EVENT, "The team will meet on Monday.", {"past"}),
    (Kind.EVENT, "Dana is meeting Yossi on 3 May 2026.", {"past"}),
    (Kind.EVENT, "The board approves the budget.", {"past"}),
    (Kind.EVENT, "Dana met Yossi, who works at Intel.", {"stable"}),
    (Kind.EVENT, "Dana bought a flat. Dana lives in Haifa.", {"past", "stable"}),
    (Kind.EVENT, "The user ordered pizza and always prefers thin crust.", {"stable"}),
    (Kind.EVENT, "The team met last week.", {"context"}),
    (Kind.EVENT, "The team met and it was awful!", {"neutral"}),
    (Kind.EVENT, "Did the team meet?", {"question"}),
    (Kind.EVENT, "הצוות ייפגש ביום שני.", {"past"}),
    (Kind.EVENT, "דנה פוגשת את יוסי ב-3 במאי 2026.", {"past"}),
    (Kind.EVENT, "דנה פגשה את יוסי, שעובד באינטל.", {"stable"}),
    (Kind.EVENT, "דנה קנתה דירה. דנה גרה בחיפה.", {"past", "stable"}),
    (Kind.EVENT, "הצוות נפגש אתמול.", {"context"}),
    (Kind.EVENT, "הפגישה הייתה סיוט.", {"neutral"}),
]


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in GOOD.items() for text in texts]
)
def test_writing_policy_accepts_well_written_statements(kind: Kind, text: str) -> None:
    assert check_writing(kind, text) == ()


@pytest.mark.parametrize(("kind", "text", "codes"), BAD)
def test_writing_policy_remarks_have_the_expected_codes(
    kind: Kind, text: str, codes: set[str]
) -> None:
    assert {remark.code for remark in check_writing(kind, text)} == codes


def test_writing_policy_examples_cover_every_rule() -> None:
    assert sum(map(len, GOOD.values())) + len(BAD) >= 60
    assert set().union(*(codes for _, _, codes in BAD)) == {rule.code for rule in WRITING_RULES}


def test_writing_policy_remark_quotes_the_offending_word() -> None:
    (remark,) = check_writing(Kind.FACT, "Dana lives near my house.")
    assert str(remark) == ("«my» is a pronoun; write in the third person and name who is meant.")


@pytest.mark.parametrize("kind", sorted(set(Kind) - {Kind.FACT, Kind.EVENT, Kind.INSIGHT}))
def test_writing_policy_applies_to_facts_events_and_insights_only(kind: Kind) -> None:
    assert check_writing(kind, "Wow! I was here. Me too. And you? " * 20) == ()


@given(st.text(max_size=400))
def test_writing_policy_checks_any_text_with_unique_codes(text: str) -> None:
    for kind in (Kind.FACT, Kind.EVENT, Kind.INSIGHT):
        codes = [remark.code for remark in check_writing(kind, text)]
        assert len(codes) == len(set(codes))
        assert ("length" in codes) == (len(text.strip()) > MAX_CHARACTERS)


@given(st.sampled_from([text for texts in GOOD.values() for text in texts]))
def test_writing_policy_ignores_surrounding_whitespace(text: str) -> None:
    for kind in (Kind.FACT, Kind.EVENT):
        assert check_writing(kind, f"  {text}\n") == check_writing(kind, text)


# What the engine writes today are summaries; later steps write facts and events in the same way.
TO_BE_SUMMARISED = [
    " ".join(texts[start : start + size])
    for texts in GOOD.values()
    for size in (1, 2, 3, 5)
    for start in range(len(texts) - size + 1)
] + [
    "Hi!\nThanks for the call.\nThe lease of the office in Haifa ends on 31 December 2026.\nDan",
    "The quarterly report, which the finance team prepared over three weeks with numbers from all "
    "regions, shows that revenue grew by 12 percent, that costs fell by 3 percent and that the "
    "office in Haifa now serves more customers than the two offices in the north taken together.",
    "סיכום הישיבה:\nהצוות החליט לדחות את ההשקה ליוני 2026.\nדנה תכין תקציב.\nיוסי יבדוק ספקים.",
]


def test_writing_policy_limits_hold_for_summaries() -> None:
    formal = {"length", "sentences"}
    passed = [
        not formal & {remark.code for remark in check_writing(Kind.FACT, summarise(text))}
        for text in TO_BE_SUMMARISED
    ]
    assert len(passed) > 100
    assert sum(passed) / len(passed) >= 0.95
