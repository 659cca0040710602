"""An explanation is a tree of sentences, each with the figures it rests on."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Node:
    text: str
    facts: Mapping[str, object] = field(default_factory=dict)
    steps: tuple["Node", ...] = ()


def drawn(nodes: tuple[Node, ...], indent: str = "") -> Iterator[str]:
    """The tree as lines of text."""
    for number, node in enumerate(nodes):
        last = number == len(nodes) - 1
        yield f"{indent}{'└─' if last else '├─'} {node.text}"
        yield from drawn(node.steps, indent + ("   " if last else "│  "))


def flat(nodes: tuple[Node, ...], depth: int = 0) -> Iterator[dict[str, object]]:
    """The tree as rows, from above."""
    for node in nodes:
        facts = json.dumps(node.facts, default=str, sort_keys=True, ensure_ascii=False)
        yield {"depth": depth, "text": node.text, "facts": facts}
        yield from flat(node.steps, depth + 1)


def revived(given: Mapping[str, Any]) -> Node:
    """A node of an explanation that was kept as JSON."""
    return Node(given["text"], given["facts"], tuple(map(revived, given["steps"])))
