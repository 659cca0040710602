"""One hash for a plan: over its sorted postings, its policy's rules and the content of its inputs. Not over time, machine, engine or order."""

from collections.abc import Mapping
from hashlib import sha256

import pyarrow as pa

from apportion.model.money import plain
from apportion.model.rows import POSTING_KEY


def digest_of(postings: pa.Table, policy_version: str, inputs: Mapping[str, str]) -> str:
    """`postings` are sorted by their key."""
    found = sha256()
    for name, value in [("policy", policy_version), *sorted(inputs.items())]:
        found.update(linked([name, value]))
    columns = [[str(value) for value in postings[name].to_pylist()] for name in POSTING_KEY]
    amounts = [plain(amount) for amount in postings["amount"].to_pylist()]
    for row in zip(*columns, amounts, strict=True):
        found.update(linked(row))
    return found.hexdigest()


def linked(parts: list[str] | tuple[str, ...]) -> bytes:
    """Length-prefixed, so that no two rows can be written alike."""
    return b"".join(b"%d:%s," % (len(part), part) for part in map(str.encode, parts)) + b"\n"
