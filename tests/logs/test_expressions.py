"""Expressions over columns, against plain Python Fractions and plain Python text."""

import operator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.model.numbers import parse_fraction
from apportion.sources.cells.instants import instants
from apportion.sources.usage.expressions.evaluate import check, evaluate
from apportion.sources.usage.expressions.grammar import LONGEST, Mistake, Path, parse, paths_in
from apportion.sources.usage.expressions.values import Scene, as_cells, as_text

CLOCK = partial(instants, zone=ZoneInfo("Europe/Berlin"))
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
NAMES = ("a", "b", "c")


def scene(**columns: Any) -> Scene:
    made: dict[tuple[str | int, ...], pa.Array] = {
        (name,): cells if isinstance(cells, pa.Array) else pa.array(cells) for name, cells in columns.items()
    }
    return Scene(made, len(next(iter(made.values()))), CLOCK)


def column(text: str, **columns: Any) -> list[Any]:
    return listed(text, scene(**columns))


def listed(text: str, seen: Scene) -> list[Any]:
    tree = parse(text)
    check(tree)
    found: list[Any] = as_text(evaluate(tree, seen)).to_pylist()
    return found


# A tree as nested tuples; its text and its value are worked out here, apart from the code under test.
leaf = st.one_of(
    st.sampled_from(NAMES), st.integers(0, 10**12), st.decimals(0, 10**6, places=3, allow_nan=False).map(str)
)
trees = st.recursive(leaf, lambda inner: st.tuples(st.sampled_from("+-*/"), inner, inner), max_leaves=8)
cells = st.one_of(
    st.none(),
    st.integers(-(10**17), 10**17).map(str),
    st.decimals(-(10**9), 10**9, places=6, allow_nan=False).map(lambda number: f"{number:f}"),
    st.sampled_from(["1/3", "1e3", "-0.000001", "0"]),
)


def written(tree: Any) -> str:
    if isinstance(tree, tuple):
        return f"({written(tree[1])} {tree[0]} {written(tree[2])})"
    return str(tree)


def truth(tree: Any, row: dict[str, str | None]) -> Fraction | str | None:
    """A number, None where a part is missing, "fails" where there is no value."""
    if not isinstance(tree, tuple):
        cell = row[tree] if tree in NAMES else str(tree)
        return None if cell is None else parse_fraction(cell)
    left, right = truth(tree[1], row), truth(tree[2], row)
    if "fails" in (left, right):
        return "fails"
    if left is None or right is None:
        return None
    assert isinstance(left, Fraction)
    assert isinstance(right, Fraction)
    if tree[0] == "/":
        return left / right if right else "fails"
    return Fraction(OPERATORS[tree[0]](left, right))


@given(tree=trees, rows=st.lists(st.fixed_dictionaries(dict.fromkeys(NAMES, cells)), min_size=1, max_size=6))
def test_arithmetic_is_that_of_fractions(tree: Any, rows: list[dict[str, str | None]]) -> None:
    seen = scene(**{name: pa.array([row[name] for row in rows], pa.string()) for name in NAMES})
    found = as_cells(evaluate(parse(written(tree)), seen)).to_pylist()
    for number, row in enumerate(rows):
        expected = truth(tree, row)
        if number in seen.failed:
            assert expected == "fails" or "60 digits" in seen.failed[number]
        elif expected is None or expected == "fails":
            assert found[number] is None
        else:
            assert parse_fraction(str(found[number]) if found[number] is not None else None) == expected


def test_numbers_keep_every_digit() -> None:
    assert column("a * 3", a=["0.1", "123456789012345678", None]) == ["0.3", "370370367037037034", None]
    assert column("a / 3 * 3", a=["0.1", "7"]) == ["0.1", "7"]
    assert column("a / 3", a=["1"]) == ["1/3"]
    assert column("a * a", a=["9999999999"]) == ["99999999980000000001"]
    assert column("a - b", a=pa.array([Decimal("0.30")]), b=pa.array([0.1])) == ["0.2"]


def test_operators_bind_as_in_school() -> None:
    assert column("2 + a * 3 - -4 / 2", a=["5"]) == ["19"]
    assert column("(2 + a) * 3", a=["5"]) == ["21"]


def test_times_are_subtracted_and_moved() -> None:
    span = {"start": ["2026-10-25 01:00:00"], "end": ["2026-10-25T05:00:00+01:00"]}
    assert column("end - start", **span) == ["18000"]  # a 25-hour day in Berlin: five hours pass, not four
    assert column("start + 3600", **span) == ["2026-10-25T00:00:00Z".replace("Z", "+0000")]
    assert column("max(start, end) - min(start, end)", **span) == ["18000"]
    seen = scene(start=span["start"])
    evaluate(parse("start * 2"), seen)
    assert seen.failed == {0: "* makes no sense of times"}


@given(x=st.text(max_size=12), y=st.text(max_size=5), n=st.integers(-3, 3))
def test_texts_are_cut_and_joined(x: str, y: str, n: int) -> None:
    parts = x.split("/")
    seen = scene(x=pa.array([x]), y=pa.array([y]))
    cut = listed(f"split(x, '/', {n})", seen)
    normal = x if x.isascii() else None
    if normal:
        assert cut == [parts[n] or None if -len(parts) <= n < len(parts) else None]
    if x and y and x.isascii() and y.isascii():
        assert listed("concat(x, '-', y)", seen) == [f"{x}-{y}"]
        assert listed("replace(x, '/', '::')", seen) == [x.replace("/", "::")]


def test_what_is_missing_has_a_substitute() -> None:
    assert column("coalesce(a, b, 'none')", a=["x", None, None], b=["y", "y", None]) == ["x", "y", "none"]
    assert column("default(a, 1) * 2", a=["3", None]) == ["6", "2"]
    assert column("concat(a, default(b, ''))", a=["x"], b=pa.array([None], pa.string())) == ["x"]
    assert column("concat(a, b)", a=["x"], b=pa.array([None], pa.string())) == [None]
    assert column("lower(trim(a))", a=["  ÄB "]) == ["äb"]
    assert column("round(a)", a=["2.5"]) == column("floor(a)", a=["2.9"]) == ["2"]
    assert column("ceil(a) + abs(0 - a)", a=["2.5"]) == ["5.5"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("01:30", 90), ("00:00:00", 0), ("2-00:15:00", 173_700), ("1-02", None), ("1h30m", 5400), ("90 min", 5400),
     ("PT1H30M", 5400), ("P1DT1S", 86_401), ("1.5 hours", 5400), ("soon", None), ("1 fortnight", None)],
)  # fmt: skip
def test_durations_are_read_as_people_write_them(text: str, seconds: int | None) -> None:
    seen = scene(a=[text])
    found = as_cells(evaluate(parse("seconds(a)"), seen)).to_pylist()
    assert found == [None if seconds is None else str(seconds)]
    assert bool(seen.failed) == (seconds is None)


def test_a_cell_without_a_value_says_why() -> None:
    seen = scene(a=["1", "x", "3"], b=["0", "1", "1"])
    evaluate(parse("a / b"), seen)
    assert seen.failed == {0: "division by 0", 1: "'x' is not a number"}


def test_paths() -> None:
    found = parse("""concat(spec.tasks[0]["node name"], `GPU hours`, a[-1])""")
    assert [path.steps for path in paths_in(found)] == [("spec", "tasks", 0, "node name"), ("GPU hours",), ("a", -1)]
    assert isinstance(parse("a.b"), Path)


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("a +", "expected a column, a number, 'text' or a function, found 'the end'", 4),
        ("a ** 2", "expected a column, a number, 'text' or a function, found '*'", 4),
        ("10**9", "expected a column, a number, 'text' or a function, found '*'", 4),
        ("a b", "expected an operator or the end, found 'b'", 3),
        ("(a", "expected ')', found 'the end'", 3),
        ("a > 1", "nothing begins with '>'", 3),
        ("1e999999999", "nothing begins with '1'", 1),
        ("a[1.5]", "expected a whole number or 'key' in brackets", 3),
        ("__import__('os')", "there is no function '__import__'", 1),
        ("eval('1')", "there is no function 'eval'", 1),
        ("lower(a, b)", "lower takes 1 arguments, not 2", 1),
        ("split(a, b, 0)", "argument 2 of split must be written out, as 'text'", 1),
        ("a" + " + a" * LONGEST, "it is over 500 characters long", LONGEST),
        ("(" * 100 + "a" + ")" * 100, "it is nested over 20 deep", 21),
        ("a" + ".b" * 40, "the path has over 32 steps", 1),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(text: str, message: str, at: int) -> None:
    with pytest.raises(Mistake) as refused:
        check(parse(text))
    assert refused.value.message.startswith(message)
    assert refused.value.at == at


@given(st.text(alphabet="ab1.'`\"+-*/(),[] ", max_size=40))
def test_any_text_is_an_expression_or_a_mistake(text: str) -> None:
    try:
        check(parse(text))
        at = 1
    except Mistake as mistake:
        at = mistake.at
    assert 1 <= at <= len(text) + 1


def test_nothing_grows_beyond_measure() -> None:
    growing = "x"
    for _ in range(8):
        growing = f"replace({growing}, 'a', 'aaaaaaaaaaaaaaaa')"
    seen = scene(x=["a", "b"])
    assert listed(growing, seen) == [None, "b"]
    assert list(seen.failed) == [0]
    seen = scene(x=["9" * 60])
    evaluate(parse("x * x * x"), seen)
    assert seen.failed == {0: "the result has over 60 digits"}
