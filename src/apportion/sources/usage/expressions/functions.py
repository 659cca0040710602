"""The functions that an expression may call. Each takes whole columns; a missing part gives a missing result, except in `coalesce` and `default`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import pyarrow as pa
import pyarrow.compute as pc

from apportion.sources.cells.text import rows_where
from apportion.sources.usage.durations import seconds_of
from apportion.sources.usage.expressions.grammar import Literal, Node
from apportion.sources.usage.expressions.values import (
    Exact,
    Numbers,
    Scene,
    Times,
    Value,
    as_text,
    each,
    exactly,
    measured,
    numbers,
    timed,
)

LONGEST_TEXT = 2**16
MANY = 20


@dataclass(frozen=True, slots=True)
class Function:
    """`least` to `most` arguments; the last ones, of these `kinds`, must be written out in the expression, as text or as a whole number."""

    run: Callable[..., Value]
    least: int
    most: int
    kinds: tuple[type, ...] = ()


def concat(scene: Scene, *values: Value) -> Value:
    parts = [as_text_or_empty(value) for value in values]
    lengths = [pc.binary_length(part) for part in parts]
    total = lengths[0]
    for length in lengths[1:]:
        total = pc.add(total, length)
    return fitting(scene, total, parts, lambda kept: pc.binary_join_element_wise(*kept, ""))


def replace(scene: Scene, value: Value, old: str, new: str) -> Value:
    if not old:
        return as_text(value)
    cells = as_text(value)
    growth = len(new.encode()) - len(old.encode())
    total = pc.add(pc.binary_length(cells), pc.multiply(pc.count_substring(cells, old), growth))
    return fitting(scene, total, [cells], lambda kept: pc.replace_substring(kept[0], old, new))


def fitting(
    scene: Scene, total: pa.Array, parts: list[pa.Array], make: Callable[[list[pa.Array]], pa.Array]
) -> pa.Array:
    """Refuses a cell that would grow beyond all measure, before it is made."""
    long = rows_where(pc.greater(total, LONGEST_TEXT))
    for row in long:
        scene.fail(row, f"the text has over {LONGEST_TEXT:,} bytes")
    if long:
        fits = pc.less_equal(total, LONGEST_TEXT)
        parts = [pc.if_else(fits, part, None) for part in parts]
    return make(parts)


def split(_: Scene, value: Value, by: str, number: int) -> Value:
    def part(cell: str) -> str | None:
        parts = cell.split(by) if by else [cell]
        return parts[number] if -len(parts) <= number < len(parts) else None

    return pa.array(each(as_text(value).to_pylist(), part), pa.string())


def coalesce(_: Scene, *values: Value) -> Value:
    if all(isinstance(value, Times) for value in values):
        return Times(pc.coalesce(*(value.seconds for value in values if isinstance(value, Times))))
    return pc.coalesce(*(as_text_or_empty(value) for value in values))


def as_text_or_empty(value: Value) -> pa.Array:
    """`''` that is written in the expression is text, an empty cell of a log is none."""
    return value if isinstance(value, pa.Array) and pa.types.is_string(value.type) else as_text(value)


def texts(run: Callable[[pa.Array], pa.Array]) -> Callable[[Scene, Value], Value]:
    return lambda _, value: run(as_text(value))


def rounded(run: Callable[[Fraction], int]) -> Callable[[Scene, Value], Value]:
    return lambda scene, value: Numbers(
        exact=each(exactly(numbers(value, scene)), lambda number: Fraction(run(number)))
    )


def chosen(choose: Callable[[Fraction, Fraction], Fraction]) -> Callable[..., Value]:
    """The least or the largest: of times a time, of numbers a number."""

    def run(scene: Scene, *values: Value) -> Value:
        sides = [measured(value, scene) for value in values]
        best: Exact = exactly(numbers(sides[0], scene))
        for side in sides[1:]:
            pairs = zip(best, exactly(numbers(side, scene)), strict=True)
            best = [None if one is None or other is None else choose(one, other) for one, other in pairs]
        if any(isinstance(side, Times) for side in sides):
            return Times(pa.array([None if one is None else int(one) for one in best], pa.int64()))
        return Numbers(exact=best)

    return run


def seconds(scene: Scene, value: Value) -> Value:
    """Of a duration as people write it."""
    cells = as_text(value).to_pylist()
    found = each(cells, seconds_of)
    for row, (cell, one) in enumerate(zip(cells, found, strict=True)):
        if cell is not None and one is None:
            scene.fail(row, f"{cell[:40]!r} is not a duration")
    return Numbers(exact=found)


def time(scene: Scene, value: Value) -> Value:
    return value if isinstance(value, Times) else timed(value if isinstance(value, pa.Array) else as_text(value), scene)


FUNCTIONS: Mapping[str, Function] = {
    "concat": Function(concat, 2, MANY),
    "coalesce": Function(coalesce, 2, MANY),
    "default": Function(coalesce, 2, 2),
    "split": Function(split, 3, 3, (str, int)),
    "replace": Function(replace, 3, 3, (str, str)),
    "lower": Function(texts(pc.utf8_lower), 1, 1),
    "upper": Function(texts(pc.utf8_upper), 1, 1),
    "trim": Function(texts(pc.utf8_trim_whitespace), 1, 1),
    "min": Function(chosen(min), 2, MANY),
    "max": Function(chosen(max), 2, MANY),
    "round": Function(rounded(round), 1, 1),
    "floor": Function(rounded(floor), 1, 1),
    "ceil": Function(rounded(ceil), 1, 1),
    "abs": Function(lambda scene, value: Numbers(exact=each(exactly(numbers(value, scene)), abs)), 1, 1),
    "seconds": Function(seconds, 1, 1),
    "time": Function(time, 1, 1),
}


def constant(node: Node, kind: type) -> str | int | None:
    """An argument that must be written out, None where it is not."""
    if isinstance(node, Literal):
        value = node.value
        if kind is str and isinstance(value, str):
            return value
        if kind is int and isinstance(value, Fraction) and value.denominator == 1:
            return int(value)
    return None
