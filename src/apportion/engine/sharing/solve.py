"""One small sharing problem, solved exactly and rounded to whole minor units."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from math import lcm
from typing import Any
from unicodedata import normalize

from apportion.engine.sharing.currency import converted
from apportion.engine.sharing.excess import find_excess
from apportion.engine.sharing.given import MOST_KEYS, Given, Shares, check_names, read_number, read_object, refuse
from apportion.engine.sharing.method import Method
from apportion.engine.sharing.methods import ELSEWHERE, METHODS
from apportion.errors import require_equal
from apportion.model.findings import Finding
from apportion.model.money import round_children


@dataclass(frozen=True, slots=True)
class Solution:
    """Shares in minor units: exact, and as posted. Both add up to the bill; names are in the order of their UTF-8 bytes.

    `findings` tell what of the problem was taken, and does not fit together.
    """

    exact: dict[str, Fraction]
    minor: dict[str, int]
    findings: tuple[Finding, ...] = ()


def solve(problem: Mapping[str, Any]) -> Solution:
    """A problem has `method`, `bill_minor`, `params` and `inputs`; whatever else it has is a remark. Raises SplitError."""
    if not isinstance(problem, Mapping):
        refuse("invalid_input", "a problem must be an object")
    method = find_method(problem.get("method"))
    if method.share is None:
        refuse(
            "not_a_split",
            f"{method.name} shares cost lines by usage rows: name it in a pool of a policy and `plan`",
            "method",
        )
    given = read_given(problem, method)
    check_keys(given, method)
    if method.name == "fx":
        given = converted(given)
    solution = rounded(given.bill, method.share(given))
    return replace(solution, findings=find_excess(given, method))


def find_method(name: object) -> Method:
    if name is None:
        refuse("missing_input", "the problem names no method", "method")
    if isinstance(name, str) and name in ELSEWHERE:
        refuse("not_a_split", f"{name} is not a split of one bill: {ELSEWHERE[name]}", "method")
    method = METHODS.get(name) if isinstance(name, str) else None
    if method is None:
        near = get_close_matches(name[:40], METHODS, 1) if isinstance(name, str) else []
        refuse("unknown_method", f"there is no such method{f'; did you mean {near[0]}?' if near else ''}", "method")
    return method


def read_given(problem: Mapping[str, Any], method: Method) -> Given:
    sections = {name: problem.get(name) for name in ("params", "inputs")}
    params, inputs = (read_object({} if value is None else value, name) for name, value in sections.items())
    for name, section in (("params", params), ("inputs", inputs)):
        if len(section) > MOST_KEYS:
            refuse("too_large", f"{name} has more than {MOST_KEYS} keys", name)
    bill = problem.get("bill_minor")
    if bill is None and method.name == "fx":
        bill = inputs.get("bill_minor")
    if bill is None:
        refuse("missing_input", "the problem has no bill_minor", "bill_minor")
    number = read_number(bill, "bill_minor")
    if number.denominator != 1:
        refuse("invalid_number", "bill_minor must be a whole number of minor units", "bill_minor")
    return Given(int(number), params, inputs)


def check_keys(given: Given, method: Method) -> None:
    """A slip of the pen in a parameter's name must not silently mean its default; remarks under other names may stay."""
    absent = [name for name in method.reads if not given.has(name)]
    for key in (*given.params, *given.inputs):
        name = str(key)[:40]
        near = get_close_matches(name, absent, 1, 0.75) if key not in method.reads else []
        if near:
            refuse("unknown_key", f"{name!r} is not known here; did you mean {near[0]!r}?", name)


def rounded(bill: int, exact: Shares) -> Solution:
    """Largest remainder; ties go by the UTF-8 bytes of the composed name, and a negative bill mirrors the positive one."""
    names = sorted(check_names(exact, "the answer"), key=str.encode)
    scale = lcm(*(share.denominator for share in exact.values()))
    scaled = [exact[name].numerator * (scale // exact[name].denominator) for name in names]
    require_equal("the exact shares must add up to the bill", bill * scale, sum(scaled))
    minor = round_children(bill, scaled, scale, [normalize("NFC", name) for name in names])
    require_equal("the rounded shares must add up to the bill", bill, sum(minor))
    return Solution({name: exact[name] for name in names}, dict(zip(names, minor, strict=True)))
