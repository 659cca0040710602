"""Names and values as the policy's YAML has them."""

import json
import re
from collections.abc import Iterable

PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
WORDS = frozenset(
    {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"}
)  # that some YAML readers take for something else


def scalar(text: str) -> str:
    return text if PLAIN.fullmatch(text) and text.lower() not in WORDS else json.dumps(text, ensure_ascii=False)


def glob(text: str) -> str:
    """A value that matches itself alone."""
    return scalar(re.sub(r"([*?[])", r"[\1]", text))


def template(text: str) -> str:
    """A name that fills itself alone."""
    return scalar(text.replace("{", "{{").replace("}", "}}"))


def listed(values: Iterable[str]) -> str:
    """`a`, or `[a, b]`; values are written already."""
    some = list(values)
    return some[0] if len(some) == 1 else f"[{', '.join(some)}]"


def comment(text: str) -> str:
    """One line, without anything that could end it."""
    return re.sub(r"[^\x20-\x7e\u00a0-\u2027\u202a-\uffff]", "?", text)[:120]
