"""A tree over whole columns; and, before any file is read, whether its functions exist and have the arguments they need."""

from fractions import Fraction

import pyarrow as pa

from apportion.sources.settings import nearest
from apportion.sources.usage.expressions.functions import FUNCTIONS, constant
from apportion.sources.usage.expressions.grammar import Call, Literal, Mistake, Node, Operation, Path
from apportion.sources.usage.expressions.values import TEN, Numbers, Scene, Value, operate

LITERAL_PLACES = 6
KINDS = {str: "'text'", int: "a whole number"}


def check(node: Node) -> None:
    """Raises Mistake."""
    if isinstance(node, Operation):
        check(node.left)
        check(node.right)
    elif isinstance(node, Call):
        check_call(node)


def check_call(node: Call) -> None:
    function = FUNCTIONS.get(node.function)
    if function is None:
        raise Mistake(f"there is no function {node.function[:40]!r} ({nearest(node.function, FUNCTIONS)})", node.at)
    if not function.least <= len(node.arguments) <= function.most:
        wanted = str(function.least) if function.least == function.most else f"{function.least} to {function.most}"
        raise Mistake(f"{node.function} takes {wanted} arguments, not {len(node.arguments)}", node.at)
    for argument, kind in zip(reversed(node.arguments), reversed(function.kinds), strict=False):
        if constant(argument, kind) is None:
            place = node.arguments.index(argument) + 1
            raise Mistake(f"argument {place} of {node.function} must be written out, as {KINDS[kind]}", node.at)
    for argument in node.arguments:
        check(argument)


def evaluate(node: Node, scene: Scene) -> Value:
    """Of a tree that was checked."""
    if isinstance(node, Path):
        return scene.columns[node.steps]
    if isinstance(node, Literal):
        return repeated(node.value, scene.rows)
    if isinstance(node, Operation):
        return operate(node.sign, evaluate(node.left, scene), evaluate(node.right, scene), scene)
    function = FUNCTIONS[node.function]
    columns = len(node.arguments) - len(function.kinds)
    written = [
        constant(argument, kind) for argument, kind in zip(node.arguments[columns:], function.kinds, strict=True)
    ]
    return function.run(scene, *(evaluate(argument, scene) for argument in node.arguments[:columns]), *written)


def repeated(value: Fraction | str, rows: int) -> Value:
    if isinstance(value, str):
        return pa.repeat(pa.scalar(value), rows)
    scaled = value * TEN**LITERAL_PLACES
    if value.denominator == 1 and abs(value) < 2**62:
        return Numbers(pa.repeat(pa.scalar(int(value), pa.int64()), rows))
    if scaled.denominator == 1 and abs(scaled) < 2**62:
        return Numbers(pa.repeat(pa.scalar(int(scaled), pa.int64()), rows), LITERAL_PLACES)
    return Numbers(exact=[value] * rows)
