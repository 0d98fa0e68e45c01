"""Phone numbers and e-mail addresses: found where they stand, equal however they are written."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.fields.phone_email import (
    email_key,
    find_emails,
    find_phones,
    is_same_email,
    is_same_phone,
    phone_key,
)

FOUND = [
    ("Dana from the bank, 052-1234567", "052-1234567"),
    ("call her on 052 123 4567 today", "052 123 4567"),
    ("דנה מהבנק 0521234567", "0521234567"),
    ("אפשר להתקשר ל-052–1234567", "052–1234567"),
    ("office +972 52-123-4567.", "+972 52-123-4567"),
    ("(415) 555-0132 after nine", "(415) 555-0132"),
    ("London 020 7946 0958", "020 7946 0958"),
    ("à Paris 06 12 34 56 78", "06 12 34 56 78"),
    ("Istanbul 0532 111 22 33", "0532 111 22 33"),
    ("hotline 1-800-555-0199", "1-800-555-0199"),
    ("the bank: *2407", "*2407"),
    ("flat 4, 052-1234567 42 Herzl St", "052-1234567"),
    ("phone 5551234", "5551234"),
]

NO_PHONE = [
    "",
    "2026-03-01 12:30",
    "01-02-2026 or 01.02.26",
    "order 12345678",
    "ID 123456789",
    "card 4580 1234 5678 9012",
    "192.168.0.1",
    "12:30-13:30",
    "1,200,000 or 3.11.4567",
    "account 12-345-678901",
    "the year 1984",
]

THE_SAME = [
    ("052-1234567", "0521234567"),
    ("052-1234567", "+972 52-123-4567"),
    ("052-1234567", "+972-(0)52-1234567"),
    ("00972521234567", "052 123 4567"),
    ("972521234567", "052-1234567"),
    ("(415) 555-0132", "+1 415 555 0132"),
    ("1-415-555-0132", "415.555.0132"),
    ("+44 (0)20 7946 0958", "020 7946 0958"),
    ("+39 06 698 82872", "06 69882872"),
    ("03-5551234 ext. 3", "+972 3 5551234 x3"),
    ("٠٥٢١٢٣٤٥٦٧", "052-1234567"),
]

NOT_THE_SAME = [
    ("052-1234567", "052-1234568"),
    ("052-1234567", "054-1234567"),
    ("555-1234", "415 555 1234"),
    ("+972 52-1234567", "+1 52-1234567"),
    ("03-5551234", "03-5551234 ext 3"),
    ("*2407", "*2408"),
    ("no number", "no number"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "number"), FOUND)
def test_find_phones_returns_the_exact_span(text: str, number: str) -> None:
    (found,) = find_phones(text)
    assert found.text == number == text[found.start : found.end]


@pytest.mark.parametrize("text", NO_PHONE)
def test_find_phones_ignores_dates_amounts_and_account_numbers(text: str) -> None:
    assert find_phones(text) == ()


def test_find_phones_keeps_the_order_of_the_text() -> None:
    found = find_phones("Dana 052-1234567, work 03-5551234, abroad +1 415 555 0132")
    assert [one.text for one in found] == ["052-1234567", "03-5551234", "+1 415 555 0132"]


@pytest.mark.parametrize(("a", "b"), THE_SAME)
def test_is_same_phone_matches_across_formats(a: str, b: str) -> None:
    assert is_same_phone(a, b)
    assert is_same_phone(b, a)
    assert phone_key(a) == phone_key(b)


@pytest.mark.parametrize(("a", "b"), NOT_THE_SAME)
def test_is_same_phone_rejects_different_numbers(a: str, b: str) -> None:
    assert not is_same_phone(a, b)
    assert not is_same_phone(b, a)


subscribers = st.integers(0, 9_999_999).map(lambda number: f"{number:07}")
prefixes = st.sampled_from(["50", "52", "53", "54", "58"])


@given(prefixes, subscribers, st.sampled_from("-. "))
def test_find_phones_finds_every_format_of_a_mobile_number(prefix, rest, gap) -> None:
    ways = [
        f"0{prefix}{gap}{rest}",
        f"0{prefix}{rest}",
        f"0{prefix}{gap}{rest[:3]}{gap}{rest[3:]}",
        f"+972{prefix}{rest}",
        f"+972 {prefix}-{rest[:3]}-{rest[3:]}",
    ]
    for way in ways:
        assert [one.text for one in find_phones(f"Dana, {way}, mornings")] == [way]
        assert is_same_phone(way, ways[0])
        assert phone_key(way) == phone_key(ways[0])


@given(prefixes, subscribers, subscribers)
def test_is_same_phone_compares_all_digits(prefix, one, other) -> None:
    assert is_same_phone(f"0{prefix}-{one}", f"+972{prefix}{other}") == (one == other)


@given(st.text(max_size=60), st.text(max_size=60))
def test_is_same_phone_is_symmetric_and_agrees_with_phone_key(a: str, b: str) -> None:
    assert is_same_phone(a, b) == is_same_phone(b, a)
    if is_same_phone(a, b):
        assert phone_key(a) == phone_key(b)
    for one in (*find_phones(a), *find_emails(a)):
        assert a[one.start : one.end] == one.text


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("write to dana@bank.co.il.", ["dana@bank.co.il"]),
        ("<Dan.L+news@GMAIL.com>; q@r.io", ["Dan.L+news@GMAIL.com", "q@r.io"]),
        ("המייל של דנה: דנה@דוגמה.ישראל", ["דנה@דוגמה.ישראל"]),
        ("קיבלתי מ-dana@bank.co.il", ["dana@bank.co.il"]),
        ("x@münchen.de", ["x@münchen.de"]),
        ("mailto:q@r.io", ["q@r.io"]),
        ("printer@office.local", ["printer@office.local"]),
        ("a..b@x.org, a@b, @dana, x@-y.org, 3@4.5", []),
    ],
)
def test_find_emails_returns_the_addresses_of_a_text(text: str, addresses: list[str]) -> None:
    assert [one.text for one in find_emails(text)] == addresses


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("Dana@Bank.co.il", "dana@bank.CO.IL", True),
        ("d.ana.l@gmail.com", "danal@googlemail.com", True),
        ("x@münchen.de", "x@xn--mnchen-3ya.de", True),
        ("<dana@bank.co.il>", "mailto:dana@bank.co.il", True),
        ("d.ana@bank.co.il", "dana@bank.co.il", False),
        ("dana+news@gmail.com", "dana@gmail.com", False),
        ("dana@bank.co.il", "dana@bank.com", False),
        ("no address", "no address", False),
    ],
)
def test_is_same_email_matches_only_equivalent_addresses(a: str, b: str, same: bool) -> None:
    assert is_same_email(a, b) is same
    assert is_same_email(b, a) is same


@given(st.emails())
def test_email_key_ignores_case_and_is_idempotent(address: str) -> None:
    key = email_key(address)
    assert email_key(address.upper()) == key
    if key is not None:
        assert email_key(key) == key


@pytest.mark.timeout(30)
@pytest.mark.parametrize("unit", ["1 ", "0", "052-", "+1", "(", "a@", "a.", "a@b.", "phone 1"])
def test_find_phones_and_emails_are_fast_on_hostile_text(unit: str) -> None:
    """A pattern that backtracks would need hours for this much."""
    text = (unit * 32_000)[:31_970] + " dana@bank.co.il +972521234567"
    assert find_emails(text)[-1].text == "dana@bank.co.il"
    assert find_phones(text)[-1].text == "+972521234567"


def test_phonenumbers_library_is_imported_lazily() -> None:
    script = (
        "import sys, commonplace.language.fields.phone_email as contacts\n"
        "contacts.find_phones('no number'), contacts.find_emails('no address')\n"
        "sys.exit('phonenumbers' in sys.modules or 'idna' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
