"""A Dockerfile, read."""

import re
from collections.abc import Iterator


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Each with its words; comments are gone and lines that go on are joined."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in re.sub(r"\\\n\s*", "", lines).splitlines():
        if line.strip():
            kind, _, rest = line.strip().partition(" ")
            yield kind, rest.strip()


def stages(text: str) -> dict[str, list[tuple[str, str]]]:
    """The instructions of each stage by its name."""
    found: dict[str, list[tuple[str, str]]] = {}
    name = ""
    for kind, rest in instructions(text):
        if kind == "FROM":
            name = rest.rpartition(" AS ")[2]
        found.setdefault(name, []).append((kind, rest))
    return found
