"""A label is found as Arrow finds it, only sooner."""

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from apportion.engine.labels import looked_up

ROWS = st.lists(
    st.none() | st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.sampled_from("xy")), max_size=3), max_size=8
)


@given(ROWS, st.data())
def test_the_first_of_each_row_whatever_slice_it_is(rows: list[object], data: st.DataObject) -> None:
    whole = pa.array(rows, pa.map_(pa.string(), pa.string()))
    start = data.draw(st.integers(0, len(whole)))
    labels = whole.slice(start, data.draw(st.integers(0, len(whole) - start)))
    for key in "abd":
        assert looked_up(labels, key).to_pylist() == pc.map_lookup(labels, key, "first").to_pylist()
