"""Whole columns give what the model's own functions give cell by cell."""

from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apportion.errors import InputError
from apportion.model.meters import GPU
from apportion.model.numbers import parse_decimal, parse_fraction
from apportion.model.times import parse_instant
from apportion.sources.cells.amounts import LARGEST, amounts, portion
from apportion.sources.cells.instants import instants
from apportion.sources.cells.labels import labels_from_cells, labels_from_columns
from apportion.sources.cells.money import money, total
from apportion.sources.cells.text import text

UTC_ZONE = ZoneInfo("UTC")
ZONES = ["UTC", "Europe/Berlin", "America/Los_Angeles", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"]
NUMBERS = st.one_of(
    st.decimals(allow_nan=True, allow_infinity=True).map(str),
    st.decimals(min_value=-(10**19), max_value=10**19, places=18).map(lambda number: format(number, "f")),
    st.from_regex(r"[+-]?[0-9]{0,25}\.?[0-9]{0,22}(e[+-]?[0-9]{1,3})?", fullmatch=True),
    st.text(max_size=8),
)


def expected_money(cell: str) -> Decimal | None:
    try:
        number = parse_decimal(cell)
    except InputError:
        return None
    with localcontext() as context:
        context.prec = 400
        return number if abs(number) < 10**20 and number == number.quantize(Decimal(1).scaleb(-18)) else None


@given(st.lists(NUMBERS.filter(lambda cell: cell != ""), min_size=1, max_size=20))
@example(["99999999999999999999.999999999999999999", "100000000000000000000", "0.0000000000000000001"])
@example(["1.0000000000000000000000", "1e-18", "1e-19", "-0", " 7 ", "1_000", "١٢", "0x1", "1,5", "$1"])
def test_money_is_exact_or_refused(cells: list[str]) -> None:
    parsed = money(pa.array(cells, pa.string()))
    assert parsed.values.to_pylist() == [expected_money(cell) for cell in cells]
    assert set(parsed.bad) == {row for row, cell in enumerate(cells) if expected_money(cell) is None}


DOUBLES = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e19, max_value=1e19)
PRICES = st.builds(lambda units, places: units / 10**places, st.integers(-(10**16), 10**16), st.integers(0, 14))


@given(st.lists(DOUBLES | PRICES, min_size=1))
def test_binary_money_is_its_shortest_text_at_18_places(numbers: list[float]) -> None:
    parsed = money(pa.array(numbers, pa.float64()))
    with localcontext() as context:
        context.prec = 400
        wanted = [Decimal(repr(number)).quantize(Decimal(1).scaleb(-18), ROUND_HALF_EVEN) for number in numbers]
    assert parsed.values.to_pylist() == wanted
    assert not parsed.bad


def test_typed_money() -> None:
    assert money(pa.array([float("nan"), float("inf"), 1e20, None])).bad == {
        0: "invalid-number",
        1: "invalid-number",
        2: "too-many-digits",
    }
    fine = pa.array([Decimal("1.50"), None], pa.decimal128(38, 20))
    assert money(fine).values.to_pylist() == [Decimal("1.5"), None]
    assert money(pa.array([Decimal("1e-19"), Decimal(1)], pa.decimal128(38, 20))).bad == {0: "too-many-digits"}


@pytest.mark.parametrize("text", ["1.0000000000000000000000000001", "1234567890123456789012345.00"])
def test_more_digits_than_decimals_compute_with_are_no_money(text: str) -> None:
    assert money(pa.array([text, "1.50"])).bad == {0: "too-many-digits"}
    assert money(pa.array(["1.5000000000000000000000000000", "-0.0"])).bad == {}
    assert money(pa.array([10**18, -3])).values.to_pylist() == [10**18, -3]
    assert money(pa.array([True])).bad == {0: "invalid-number"}


def test_sums_are_wider_than_their_parts() -> None:
    assert total(money(pa.array(["99999999999999999999.9"] * 20)).values) == 20 * Decimal("99999999999999999999.9")


@given(
    st.lists(st.integers(0, 4 * 10**9), min_size=1, max_size=30),
    st.sampled_from(ZONES),
    st.sampled_from(["T", " "]),
    st.sampled_from(["", "Z", "+02:00", "-0730", ".5", ".999999999Z"]),
)
@example([1792891800, 1792895400, 1792899000], "Europe/Berlin", " ", "")  # the hour that comes twice
def test_times_are_those_of_parse_instant(seconds: list[int], zone: str, between: str, tail: str) -> None:
    start = datetime(1970, 1, 1, tzinfo=UTC)
    cells = [(start + timedelta(seconds=second)).strftime(f"%Y-%m-%d{between}%H:%M:%S") + tail for second in seconds]
    cells += ["2026-03-29 02:30:00", "2026-10-25 02:30:00", "2026-10-01", "2026-10-01T10:00"]
    parsed = instants(pa.array(cells), ZoneInfo(zone))
    assert parsed.values.to_pylist() == [parse_instant(cell, ZoneInfo(zone)) for cell in cells]
    assert not parsed.bad


@given(
    st.lists(
        st.one_of(
            st.text(max_size=30),
            st.sampled_from(
                [
                    "2026-02-30",
                    "0000-01-01",
                    "2026-10-01T25:00:00Z",
                    "2026-10-01T00:00:00+99:00",
                    "Unknown",
                    "2026-10-01T00:00:00Z",
                ]
            ),
        ),
        min_size=1,
    )
)
def test_what_is_no_time_is_named(cells: list[str]) -> None:
    parsed = instants(pa.array(cells, pa.string()), UTC_ZONE)
    for row, (cell, value) in enumerate(zip(cells, parsed.values.to_pylist(), strict=True)):
        assert (value is None) == (row in parsed.bad or cell.lower() in ("unknown", "none", "n/a", "null"))


def test_typed_times() -> None:
    moments = [datetime.fromisoformat("2026-10-25T00:30:00.999999"), datetime.fromisoformat("1969-12-31T23:59:59.5")]
    wanted = [1792888200, -1]
    for unit in ("us", "ns"):
        assert instants(pa.array(moments, pa.timestamp(unit)), UTC_ZONE).values.to_pylist() == wanted
        assert (
            instants(pa.array(moments, pa.timestamp(unit, "UTC")), ZoneInfo("Asia/Tokyo")).values.to_pylist() == wanted
        )
    assert instants(pa.array(moments[:1], pa.timestamp("s")), ZoneInfo("Europe/Berlin")).values.to_pylist() == [
        1792881000
    ]
    assert instants(pa.array([date(2026, 10, 1)]), ZoneInfo("Europe/Berlin")).values.to_pylist() == [1790805600]
    assert instants(pa.array([1790812800]), UTC_ZONE).bad == {
        0: "invalid-time"
    }  # a number is no time unless the stanza says so
    assert instants(pa.array([1790812800]), UTC_ZONE, "epoch").values.to_pylist() == [1790812800]
    assert instants(pa.array([1790812800_999, -1]), UTC_ZONE, "epoch_ms").values.to_pylist() == [1790812800, -1]
    assert instants(pa.array([1790812800.75, float("nan"), 1e300]), UTC_ZONE, "epoch").bad == {
        1: "invalid-time",
        2: "invalid-time",
    }
    assert instants(pa.array(["1790812800.75", "12e3"]), UTC_ZONE, "epoch").bad == {1: "invalid-time"}


def expected_amount(cell: str, scale: int) -> int | None:
    try:
        amount = parse_fraction(cell)
    except InputError:
        return None
    found = round(amount * scale)
    return found if amount >= 0 and found <= LARGEST else None


@given(
    st.lists(
        st.one_of(
            NUMBERS,
            st.decimals(0, 1000, places=9).map(lambda n: format(n, "f")),
            st.integers(-5, 10**7).map(str),
            st.just("3/7"),
        ).filter(lambda cell: cell != ""),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from([1, 1000, GPU, 2**30, 3_600_000_000]),
)
def test_amounts_are_the_nearest_base_units(cells: list[str], scale: int) -> None:
    parsed = amounts(pa.array(cells, pa.string()), scale)
    wanted = [expected_amount(cell, scale) for cell in cells]
    assert [found is None for found in parsed.values.to_pylist()] == [found is None for found in wanted]
    for cell, found, exact in zip(cells, parsed.values.to_pylist(), wanted, strict=True):
        if exact is not None:
            near_tie = abs(abs(parse_fraction(cell) * scale - exact) - Fraction(1, 2)) < Fraction(1, 100)
            assert found == exact or (near_tie and abs(found - exact) == 1)
    assert set(parsed.bad) == {row for row, found in enumerate(wanted) if found is None}


def test_typed_amounts() -> None:
    assert amounts(pa.array([8, 0, -1, 2**62]), GPU).bad == {2: "negative-amount", 3: "too-many-digits"}
    assert amounts(pa.array([0.5, 1 / 7, float("nan"), float("inf"), -0.1]), GPU).values.to_pylist() == [
        252_000,
        72_000,
        None,
        None,
        None,
    ]
    assert amounts(pa.array([2**64 - 1], pa.uint64()), 1).bad == {0: "too-many-digits"}
    assert amounts(pa.array([Decimal("1.5")]), 1000).values.to_pylist() == [1500]
    assert portion(pa.array([504_000, None, 8]), pa.array(["12.5", "3", "x"]), 100).values.to_pylist() == [
        63_000,
        None,
        None,
    ]
    assert portion(pa.array([504_000]), pa.array([0.5]), 1).values.to_pylist() == [252_000]


def test_labels_of_columns_and_json_together() -> None:
    columns = {"team": pa.array(["a", None, "c"]), "env": pa.array(["x", "y", None])}
    others = labels_from_cells(
        pa.array(['{"team":"json","z":1}', '{"team":"json","deep":{"a":[1,true]}}', None])
    ).values
    assert [dict(found) for found in labels_from_columns(3, columns, others).to_pylist()] == [
        {"env": "x", "team": "a", "z": "1"},
        {"env": "y", "team": "json", "deep": '{"a":[1,true]}'},
        {"team": "c"},
    ]
    assert labels_from_columns(2, {}).to_pylist() == [[], []]
    whole = {"b": pa.array(["1", "2"]), "a": pa.array(["3", "4"])}
    assert labels_from_columns(2, whole).to_pylist() == [[("a", "3"), ("b", "1")], [("a", "4"), ("b", "2")]]


@pytest.mark.parametrize(
    "cell",
    ["[", "[1]", "7", "null", '{"a"', "[" * 100_000, '{"a":"\\ud800"}', '{"a":' + "9" * 5000 + "}", "x" * 300_000],
)
def test_what_is_no_json_object_is_named(cell: str) -> None:
    parsed = labels_from_cells(pa.array([cell, '{"a":"b"}']))
    assert parsed.bad == {0: "invalid-labels"}
    assert parsed.values.to_pylist() == [[], [("a", "b")]]


def test_labels_of_arrow_types() -> None:
    maps = pa.array([[("a", "b")], None], pa.map_(pa.string(), pa.string()))
    pairs = pa.array([[{"key": "a", "value": "b"}], []])
    structs = pa.array([{"a": "b", "c": None}, None])
    for column in (maps, pairs, structs):
        assert labels_from_cells(column).values.to_pylist() == [[("a", "b")], []]


def test_many_equal_maps() -> None:
    kind = pa.map_(pa.string(), pa.string())
    rows = [[("b", "2"), ("a", "1")], None, [], [("a", None)], [("b", "2"), ("a", "1")]] * 3
    for column in (pa.array(rows, kind), pa.array([[("x", "y")], *rows], kind).slice(1)):
        wanted = [[("a", "1"), ("b", "2")], [], [], [("a", "null")], [("a", "1"), ("b", "2")]] * 3
        assert labels_from_cells(column).values.to_pylist() == wanted


def test_text_is_composed_and_empty_is_none() -> None:
    assert text(pa.array(["caf\u0065\u0301", "", None])).to_pylist() == ["caf\u00e9", None, None]
    assert text(pa.array([1, None])).to_pylist() == ["1", None]
    assert text(pa.array([1.5, 2.0])).to_pylist() == ["1.5", "2"]
    assert text(pa.array([True])).to_pylist() == ["true"]
    assert text(pa.array([[1, 2], []])).to_pylist() == ["[1,2]", None]
    assert text(pa.array(["a", "a"]).dictionary_encode()).to_pylist() == ["a", "a"]
