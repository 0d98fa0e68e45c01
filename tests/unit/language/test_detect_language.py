"""Script and language."""

import pytest

from commonplace.language.text.detect import Script, detect_language, detect_script


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello", Script.LATIN),
        ("שלום", Script.HEBREW),
        ("مرحبا", Script.ARABIC),
        ("Привет", Script.CYRILLIC),
        ("Γειά σου", Script.GREEK),
        ("你好", Script.CJK),
        ("カタカナ", Script.CJK),
        ("안녕하세요", Script.CJK),
        ("नमस्ते", Script.DEVANAGARI),
        ("สวัสดี", Script.OTHER),
        ("", Script.OTHER),
        ("123 !?", Script.OTHER),
        ("הפגישה עם Dan בבוקר", Script.HEBREW),
        ("ab אב", Script.LATIN),
    ],
)
def test_detect_script_returns_the_script_of_most_letters(text: str, expected: Script) -> None:
    assert detect_script(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dana moved to Berlin because of the job", "en"),
        ("Ich wohne mit meiner Frau in Berlin", "de"),
        ("Je travaille dans une banque à Paris", "fr"),
        ("Vivo en Madrid y trabajo en un banco", "es"),
        ("Abito a Roma con la mia famiglia", "it"),
        ("Eu moro em Lisboa com a minha família", "pt"),
        ("Ik woon met mijn vrouw in Amsterdam", "nl"),
        ("Я живу в Москве", "ru"),
        ("אני גר בתל אביב", "he"),
        ("أنا أعيش في القاهرة", "ar"),
        ("ζω στην Αθήνα", "el"),
        ("मैं दिल्ली में रहता हूँ", "hi"),
        ("我住在北京", "zh"),
        ("東京に住んでいます", "ja"),
        ("나는 서울에 산다", "ko"),
        ("pizza", "en"),
        ("Die Hard", "en"),
        ("", "en"),
    ],
)
def test_detect_language_returns_the_expected_language(text: str, expected: str) -> None:
    assert detect_language(text) == expected
