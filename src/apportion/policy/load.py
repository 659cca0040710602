"""From text to a policy, or to the first mistake in it with its file, line and column."""

import re
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from apportion.errors import PolicyError
from apportion.policy.checks import Remark, mistakes
from apportion.policy.clause import nearest, shown
from apportion.policy.document import Origin, Policy
from apportion.policy.doubts import doubts
from apportion.policy.tree import Mark, Node, exists, find, plain, read_tree
from apportion.policy.version import content_version

QUOTED = re.compile(r"'([^']*)'")
KEY = "[key]"  # how pydantic marks a mistake in a key
SHAPES = {
    "dict_type": "keys and values",
    "tuple_type": "a list",
    "list_type": "a list",
    "string_type": "a text",
    "model_type": "keys and values",
}


def load_policy(text: str, file: str = "policy.yaml") -> Policy:
    """Raises PolicyError for any text that is not a sound policy; of several mistakes, the first in the text."""
    root = read_tree(text, file)
    try:
        policy = Policy.model_validate(plain(root))
    except ValidationError as error:
        raise _first([_found(mistake) for mistake in error.errors(include_url=False)], root, file) from None
    wrong = list(mistakes(policy))
    if wrong:
        raise _first(wrong, root, file)
    warnings = tuple(
        _sentence(doubt, root, file) for doubt in sorted(doubts(policy), key=lambda doubt: _order(doubt, root))
    )
    policy._origin = Origin(text, file, root, content_version(root), warnings)  # noqa: SLF001 - its one maker
    return policy


def _place(finding: Remark, root: Node) -> Mark:
    return find(root, finding.path, key=finding.key and exists(root, finding.path))  # a short form has no such key


def _order(finding: Remark, root: Node) -> tuple[int, int]:
    mark = _place(finding, root)
    return mark.line, mark.column


def _first(findings: Iterable[Remark], root: Node, file: str) -> PolicyError:
    finding = min(findings, key=lambda each: _order(each, root))
    where = f"{file}:{_place(finding, root)}"
    if finding.other:
        where = f"{file}:{find(root, finding.other)} and {where}"
    return PolicyError(finding.code, finding.message, where=where, hint=finding.hint)


def _sentence(finding: Remark, root: Node, file: str) -> str:
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{file}:{_place(finding, root)}: {finding.message}{hint}"


def _found(mistake: Any) -> Remark:
    """A mistake as pydantic tells it, in our words. Most are ours already; the rest are shapes, words and missing keys."""
    path = tuple(step for step in mistake["loc"] if step != KEY)
    in_key = KEY in mistake["loc"]
    context, given, kind = mistake.get("ctx", {}), mistake["input"], mistake["type"]
    if kind == "policy":
        key = in_key or context["key"]
        return Remark((*path, *context["path"]), context["message"], context["code"], context["hint"], key=key)
    if kind == "missing":
        return Remark(path[:-1], f"the key {path[-1]!r} is missing", "policy-missing-key", f"add {path[-1]}: ...")
    if kind == "literal_error":
        words = QUOTED.findall(context["expected"])
        if in_key:
            return Remark(
                path, f"there is no key {shown(given)} here", "policy-unknown-key", nearest(given, words), key=True
            )
        return Remark(
            path, f"expected one of {', '.join(words)}; found {shown(given)}", "policy-value", nearest(given, words)
        )
    if kind == "too_short":
        return Remark(path, "the list is empty", "policy-value", "name at least one, or leave the key out")
    return Remark(path, f"expected {SHAPES.get(kind, 'something else')}, found {shown(given)}", "policy-type")
