"""A day in an answer is told as a day, described as one, and read back as one."""

from datetime import UTC, date, datetime

import pytest

from commonplace.answers import as_data
from commonplace.surfaces.schemas import AnswerSchemas, read_as

DAY = date(2026, 3, 2)
MOMENT = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hint", "value", "told", "form"),
    [
        (date, DAY, "2026-03-02", "date"),
        (datetime, MOMENT, "2026-03-02T09:00:00+00:00", "date-time"),
    ],
)
def test_it_goes_there_and_comes_back(hint, value, told, form):
    assert as_data(value) == told
    assert AnswerSchemas("#/$defs/").of(hint) == {"type": "string", "format": form}
    assert read_as(hint | None, told) == value
    assert type(read_as(hint, told)) is hint
