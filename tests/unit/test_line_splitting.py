"""A line ends at a line feed and nowhere else."""

from hypothesis import given
from hypothesis import strategies as st

from commonplace.operations.serialization import decode_lines, split_lines

ODD = "A\u2028b\u2029c\x85d\x0be\x0cf\x1cg\rh"


def test_split_lines_splits_at_line_feeds_only():
    assert split_lines(f"{ODD}\nsecond\r\n\nlast\n") == [ODD, "second", "", "last"]
    assert split_lines("") == []
    assert split_lines("no end") == ["no end"]


@given(st.text(alphabet="a\r\n\u2028é", max_size=30), st.integers(1, 5))
def test_decode_lines_is_independent_of_chunk_boundaries(text, size):
    whole = text.encode()
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert list(decode_lines(pieces)) == split_lines(text)
