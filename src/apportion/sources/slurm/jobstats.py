"""Princeton jobstats' summary in a job's AdminComment: `JS1:` and the base64 of gzipped JSON, with the utilisation of each GPU of each node."""

import base64
import json
import zlib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

PREFIX = "JS1:"
LARGEST = 2**20


def used_gpus(comment: str) -> dict[str, Fraction]:
    """Busy GPUs by node: the sum of their utilisations. Empty where there is no summary (`JS1:Short`, `JS1:None`) or it cannot be read."""
    nodes = summary(comment).get("nodes")
    found = {}
    for name, node in nodes.items() if isinstance(nodes, Mapping) else ():
        percents = node.get("gpu_utilization") if isinstance(node, Mapping) else None
        if isinstance(percents, Mapping) and all(is_percent(value) for value in percents.values()):
            found[str(name)] = sum((Fraction(str(value)) / 100 for value in percents.values()), Fraction(0))
    return found


def most_memory(comment: str) -> str | None:
    """GiB of the board that had most in use, to a hundredth, rounded up; None where the summary does not say."""
    nodes = summary(comment).get("nodes")
    parts = (
        [node.get("gpu_used_memory") for node in nodes.values() if isinstance(node, Mapping)]
        if isinstance(nodes, Mapping)
        else []
    )
    found = [size for part in parts if isinstance(part, Mapping) for size in part.values() if is_size(size)]
    return f"{-(-max(found) * 100 // 2**30) / 100:.2f}" if found else None


def is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**50


def is_percent(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100


def summary(comment: str) -> Mapping[str, Any]:
    try:
        packed = base64.b64decode(comment.removeprefix(PREFIX), validate=True)
        unpacked = zlib.decompressobj(31).decompress(packed, LARGEST)
        found = json.loads(unpacked)
    except (ValueError, zlib.error, RecursionError):
        return {}
    return found if isinstance(found, Mapping) else {}
