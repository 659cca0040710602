"""Compressed lists of nodes, as Slurm prints them: `a100-[01-03,07],rack[1-2]n[01-03]`. Zero-padding, several dimensions and suffixes are kept."""

import re
from functools import lru_cache
from itertools import product

from apportion.errors import InputError

MOST = 200_000  # nodes that one list may name; Slurm's own limit is 64 Ki
PIECES = re.compile(r"([^\[\],]+)|\[([^\[\]]*)\]|(,)")
RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
NOBODY = frozenset({"", "None assigned", "None", "(null)"})


@lru_cache(maxsize=65_536)
def nodes_of(text: str) -> tuple[str, ...]:
    """The names, in the list's order. What is no list of nodes is refused with `invalid-nodes`."""
    if text in NOBODY:
        return ()
    names: list[str] = []
    parts: list[list[str]] = []
    for piece in pieces(text):
        if piece is not None:
            parts.append(piece)
            continue
        names += combined(parts, text)
        parts = []
    names += combined(parts, text)
    if len(names) > MOST:
        raise invalid(text)
    return tuple(names)


def pieces(text: str) -> list[list[str] | None]:
    """What each place of a name can be; None between two names."""
    found: list[list[str] | None] = []
    at = 0
    while at < len(text):
        piece = PIECES.match(text, at)
        if piece is None:
            raise invalid(text)
        literal, ranges, comma = piece.groups()
        found.append(None if comma else [literal] if literal else numbers(ranges, text))
        at = piece.end()
    return found


def numbers(ranges: str, text: str) -> list[str]:
    found: list[str] = []
    for part in ranges.split(","):
        bounds = RANGE.fullmatch(part)
        if bounds is None:
            raise invalid(text)
        first, last = bounds[1], bounds[2] or bounds[1]
        count = int(last) - int(first) + 1
        if not 1 <= count <= MOST - len(found):
            raise invalid(text)
        found += [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
    return found


def combined(parts: list[list[str]], text: str) -> list[str]:
    count = 1
    for part in parts:
        count *= len(part)
    if not parts or count > MOST or any(character.isspace() for part in parts for character in part[0]):
        raise invalid(text)
    return ["".join(chosen) for chosen in product(*parts)]


def invalid(text: str) -> InputError:
    return InputError(
        "invalid-nodes", f"{text[:60]!r} is no list of nodes", hint="Slurm writes one as node[01-03,07],login1"
    )
