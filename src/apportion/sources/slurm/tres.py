"""Trackable resources (TRES) as Slurm writes them, `cpu=8,mem=32768M,gres/gpu:a100=2,gres/gpu=2`, and generic resources (GRES), `gpu:a100:8(S:0-1)`.

`billing` is whole and cut off by Slurm (1 H100 at 2.5 is billing=2, a small job has none), so it is a label and never an amount.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from apportion.errors import InputError
from apportion.model.gpus import Board, share_of
from apportion.model.numbers import parse_fraction

MEGA = 2**20
SIZES = {"": MEGA, "K": 2**10, "M": MEGA, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}  # Slurm counts memory in MiB
AMOUNT = re.compile(r"([0-9]{1,19}(?:\.[0-9]{1,9})?)([KMGTPE]?)[nc]?")
GRES = re.compile(r"([^:(,\s]+)(?::([^:(,\s]+))?(?::([0-9]{1,9}))?(?:\([^)]*\))?")
GPU, PARTS = "gpu", ("mps", "shard")
UNTYPED = ""


@dataclass(frozen=True, slots=True)
class Tres:
    """What a job holds or a node has. GPUs by type, in boards; a part of a board is a fraction of it."""

    cpus: Fraction = Fraction(0)
    memory: int = 0  # bytes
    nodes: int = 0
    gpus: tuple[tuple[str, Fraction], ...] = ()
    parts: tuple[
        tuple[str, str, Fraction], ...
    ] = ()  # (shard or mps, type, count): of boards cut into as many as the node says
    licences: tuple[tuple[str, int], ...] = ()
    others: tuple[tuple[str, Fraction], ...] = ()  # further generic resources, by name
    billing: str = ""

    @property
    def boards(self) -> Fraction:
        return sum((count for _, count in self.gpus), Fraction(0))

    @property
    def model(self) -> str:
        return "+".join(sorted({kind for kind, _ in self.gpus if kind} | {kind for _, kind, _ in self.parts if kind}))


@dataclass
class Counted:
    """Generic resources by name and type, while a text is read."""

    counts: dict[tuple[str, str], Fraction] = field(default_factory=dict)

    def add(self, name: str, count: Fraction) -> None:
        kind, _, model = name.partition(":")
        self.counts[kind, model] = self.counts.get((kind, model), Fraction(0)) + count

    def by_type(self, kind: str) -> dict[str, Fraction]:
        """`gres/gpu` says again what the types say; what it says beyond them has no type."""
        typed = {model: count for (own, model), count in self.counts.items() if own == kind and model and count}
        rest = self.counts.get((kind, UNTYPED), Fraction(0)) - sum(typed.values(), Fraction(0))
        return {**typed, UNTYPED: rest} if rest > 0 else typed

    def gpus(self) -> tuple[tuple[str, Fraction], ...]:
        return tuple(sorted((model, count * board_part(model)) for model, count in self.by_type(GPU).items()))

    def parts(self) -> tuple[tuple[str, str, Fraction], ...]:
        return tuple((kind, model, count) for kind in PARTS for model, count in sorted(self.by_type(kind).items()))

    def others(self) -> tuple[tuple[str, Fraction], ...]:
        kinds = sorted({kind for kind, _ in self.counts} - {GPU, *PARTS})
        return tuple((kind, sum(self.by_type(kind).values(), Fraction(0))) for kind in kinds)


def board_part(model: str) -> Fraction:
    """A type may be a MIG profile, which is a part of a board."""
    return share_of(f"gres/gpu:{model.casefold()}", Board()) if model else Fraction(1)


@lru_cache(maxsize=65_536)
def tres_of(text: str) -> Tres:
    """What a text says; a count that is no number is refused with `invalid-number`."""
    counted = Counted()
    plain: dict[str, str] = {}
    licences: dict[str, int] = {}
    for entry in filter(None, text.split(",")):
        name, separated, count = entry.partition("=")
        if not separated:
            raise InputError("invalid-number", f"{text[:60]!r} is no list of trackable resources")
        family, _, own = name.partition("/")
        if family == "gres" and own:
            counted.add(own, number(count))
        elif family == "license" and own:
            licences[own] = int(number(count))
        else:
            plain[name] = count
    return Tres(
        cpus=number(plain.get("cpu", "0")),
        memory=memory_of(plain.get("mem", "0")),
        nodes=int(number(plain.get("node", "0"))),
        gpus=counted.gpus(),
        parts=counted.parts(),
        licences=tuple(sorted((name, count) for name, count in licences.items() if count)),
        others=counted.others(),
        billing=plain.get("billing", ""),
    )


@lru_cache(maxsize=4096)
def gres_of(text: str) -> Tres:
    """The generic resources of a node: `gpu:a100:8(S:0-1),shard:a100:32`, or `(null)`."""
    counted = Counted()
    for found in GRES.finditer("" if text.startswith("(") else text):
        name, model, count = found.groups()
        if count is None and model is not None and model.isdecimal():
            model, count = None, model
        counted.add(f"{name}:{model}" if model else name, Fraction(int(count or 1)))
    return Tres(gpus=counted.gpus(), parts=counted.parts(), others=counted.others())


def number(text: str) -> Fraction:
    count = parse_fraction(text)
    if count < 0:
        raise InputError("negative-amount", f"{text!r} is negative")
    return count


def memory_of(text: str) -> int:
    """Bytes. `32768M`, `62.50G`, or plain MiB as in JSON; a trailing n or c is that of ReqMem before 21.08."""
    found = AMOUNT.fullmatch(text)
    if found is None:
        raise InputError("invalid-number", f"{text[:40]!r} is no amount of memory")
    return int(Fraction(found[1]) * SIZES[found[2]])
