"""The version of a policy is the hash of what it says: not of its comments, blanks, quotes or the order of unordered keys.

It is taken over the words as written, not over the models that read them, so the same text has the same version in every
release of the program, whatever settings later releases add.
"""

import json
from hashlib import sha256
from typing import Any

from apportion.policy.tree import Fields, Items, Leaf, Node, Path

FORM = "apportion policy 1"


def content_version(root: Node) -> str:
    """SHA-256 in hexadecimal."""
    text = json.dumps([FORM, canonical(root)], ensure_ascii=True, separators=(",", ":"))
    return sha256(text.encode("ascii")).hexdigest()


def canonical(node: Node, path: Path = ()) -> Any:
    """A mapping as pairs, so that it can never read like a list of the same words; sorted unless its order counts."""
    match node:
        case Leaf():
            return node.text
        case Items():
            return {"list": [canonical(item, (*path, step)) for step, item in enumerate(node.items)]}
        case Fields():
            pairs = [[key, canonical(value, (*path, key))] for key, value in node.values.items()]
            return pairs if order_counts(path) else sorted(pairs, key=lambda pair: str(pair[0]).encode())


def order_counts(path: Path) -> bool:
    """Overheads are shared pool after pool, and the first glob that matches gives the weight or the account."""
    return path in (("pools",), ("journal", "clearing")) or (
        len(path) == 4 and path[0] == "pools" and path[2] == "weights"
    )
