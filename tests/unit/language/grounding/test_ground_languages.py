"""Findings in other languages and scripts are neither dropped wholesale nor taken on trust."""

from __future__ import annotations

import pytest

from support.given_passages import contents, edges, found_in, given, memory, relation

CARRIED = [
    ("ich esse kein Fleisch", "Der Nutzer isst kein Fleisch."),
    ("mi hermana Lucía vive en Sevilla", "La hermana del usuario, Lucía, vive en Sevilla."),
    ("моя сестра Маша живёт в Казани", "Сестра пользователя, Маша, живёт в Казани."),
    ("أختي سلمى تسكن في دبي", "أخت المستخدم سلمى تسكن في دبي."),
    ("我对花生过敏", "用户对花生过敏。"),
    ("ฉันแพ้ถั่วลิสง", "ผู้ใช้แพ้ถั่วลิสง"),
    ("אחותי נטע גרה בעכו", "אחותו של המשתמש, נטע, גרה בעכו."),
    ("私は猫を二匹飼っています", "ユーザーは猫を二匹飼っています。"),
    ("나는 땅콩 알레르기가 있어요", "사용자는 땅콩 알레르기가 있다."),
]
NOT_CARRIED = [
    ("ich esse kein Fleisch", "Der Nutzer isst Fleisch."),
    ("mi hermana vive en Sevilla", "La hermana del usuario, Marta, vive en Sevilla."),
    ("моя сестра живёт в Казани", "Сестра пользователя, Ольга, живёт в Казани."),
    ("我今天很累", "用户在上海的银行工作。"),
    ("ฉันเหนื่อยมาก", "ผู้ใช้ทำงานที่ธนาคารในกรุงเทพ"),
    ("אין לי כלב", "למשתמש יש כלב."),
    ("יש לי שלושה אחים", "למשתמש יש 4 אחים."),
]


@pytest.mark.parametrize(("said", "text"), CARRIED)
def test_statement_is_kept(said, text):
    assert contents(found_in(given(f"owner: {said}"), memories=[memory(text, said)])) == [text]


@pytest.mark.parametrize(("said", "text"), NOT_CARRIED)
def test_statement_that_is_not_carried_is_dropped(said, text):
    assert contents(found_in(given(f"owner: {said}"), memories=[memory(text, said)])) == []


@pytest.mark.parametrize(
    ("said", "one", "type", "other", "edge"),
    [
        ("моя сестра Маша в Казани", "Маша", "lives-in", "Казань", ("Маша", "lives-in", "Казань")),
        ("我女儿小雨", "小雨", "child", "me", ("小雨", "child", "Vera Lindqvist")),
        ("אח שלי גיא באלביט", "גיא", "works-at", "אלביט", ("גיא", "works-at", "אלביט")),
        ("אמא שלי באה", "me", "אמא", "אמא", ("Vera Lindqvist", "child", "אמא")),
    ],
)
def test_names_of_relations_are_found(said, one, type, other, edge):
    found = found_in(given(f"owner: {said}"), relations=[relation(one, type, other, said)])
    assert edges(found) == [edge]
