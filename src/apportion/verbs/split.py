"""`split`: one small sharing problem from text to whole minor units."""

import json
from typing import Any

from apportion.engine.sharing import SplitError, solve
from apportion.model.findings import Finding
from apportion.model.money import plain
from apportion.model.numbers import LONGEST

LARGEST_TEXT = 1_000_000


class InexactNumber:
    """A JSON number with a point or an exponent, NaN, or far too many digits: whoever needs a number there refuses it."""

    def __init__(self, text: str) -> None:
        self.text = text


def split(text: str) -> tuple[int, dict[str, Any]]:
    """Solve one small sharing problem, given as JSON: the exit code, and the object to print, `shares`, or `error` and `message`.

    `findings` stand beside the shares where something of the problem does not fit together.
    """
    try:
        solution = solve(read_problem(text))
    except SplitError as error:
        return 1, {"error": error.code, "message": error.message}
    told = [describe(finding) for finding in solution.findings]
    return 0, {"shares": solution.minor, **({"findings": told} if told else {})}


def describe(finding: Finding) -> dict[str, Any]:
    return {"code": finding.code, "message": finding.message, "hours": plain(finding.hours), "remedy": finding.remedy}


def read_problem(text: str) -> dict[str, Any]:
    if len(text) > LARGEST_TEXT:
        raise SplitError("too_large", f"a problem may have at most {LARGEST_TEXT} characters")
    try:
        problem = json.loads(
            text,
            parse_float=InexactNumber,
            parse_constant=InexactNumber,
            parse_int=read_int,
            object_pairs_hook=read_pairs,
        )
    except (json.JSONDecodeError, RecursionError) as error:
        reason = (
            f"{error.msg} in line {error.lineno}"
            if isinstance(error, json.JSONDecodeError)
            else "it is nested too deeply"
        )
        raise SplitError("invalid_json", f"the problem is not JSON: {reason}") from error
    if not isinstance(problem, dict):
        raise SplitError("invalid_input", "a problem must be an object")
    return problem


def read_int(digits: str) -> int | InexactNumber:
    return int(digits) if len(digits) <= LONGEST else InexactNumber(digits)


def read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise SplitError("duplicate_key", f"the key {key[:40]!a} occurs twice in one object")
        found[key] = value
    return found
