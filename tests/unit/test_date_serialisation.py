"""A day in an answer is told as a day, described as one, and read back as one."""

from datetime import UTC, date, datetime

import pytest

from commonplace.operations.schemas import AnswerSchemas
from commonplace.operations.serialization import as_data, value_from_data

DAY = date(2026, 3, 2)
MOMENT = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hint", "value", "told", "form"),
    [
        (date, DAY, "2026-03-02", "date"),
        (datetime, MOMENT, "2026-03-02T09:00:00+00:00", "date-time"),
    ],
)
def test_dates_in_answers_round_trip_with_their_schema(hint, value, told, form):
    assert as_data(value) == told
    assert AnswerSchemas("#/$defs/").of(hint) == {"type": "string", "format": form}
    assert value_from_data(hint | None, told) == value
    assert type(value_from_data(hint, told)) is hint
