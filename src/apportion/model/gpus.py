"""Parts of a GPU, as people and schedulers write them, to exact fractions of a board: what others cannot have while somebody holds it.

MIG profiles count their compute slices, replicas and shards their number, MPS its percent; of memory and cores that may be limited apart (HAMi) the
larger counts. README.md says why.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from apportion.errors import InputError
from apportion.model.numbers import parse_fraction

SEVEN = 7  # compute slices of an A100, H100, H200, B200 and their kin
OTHER_SLICES = {  # NVIDIA, MIG User Guide, "Supported MIG Profiles": what boards that are cut into fewer slices call theirs
    "1g.6gb": (4,), "2g.12gb": (4,), "4g.24gb": (4,),  # A30
    "1g.24gb": (7, 4, 2), "2g.48gb": (4, 2), "4g.96gb": (4,),  # GH200's H100 (7), RTX PRO 6000 (4), RTX PRO 5000 (2)
    "1g.16gb": (2,), "2g.32gb": (2,),  # RTX PRO 4500
}  # fmt: skip
LONGEST = 200
PROFILE = re.compile(r"(?:.*?[^0-9a-z])??(?:mig)?(?:([1-7])c[._])?([1-7]g)(?:[._]([0-9]{1,4})gb)?(?:[+.-][a-z]+)*")
ENTRY = re.compile(r"(?:([0-9]+) ?[x*] ?)?([a-z0-9][a-z0-9._/:+ -]*?)(?:[=:] ?([0-9][0-9./]*))?(?: ?\([^()]*\))?")
OTHER_TRES = re.compile(
    r"(?:billing|cpu|energy|mem|node|pages|vmem|(?:bb|fs|ic|license)/[^=]*)=.*"
)  # Slurm's, beside gres
SHARED = ".shared"  # how the NVIDIA device plugin renames what it hands out in replicas
MEMORY, PERCENT, CORES = "nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"


@dataclass(frozen=True, slots=True)
class Board:
    """Into how many equal parts a board is cut, by scheme; 0 where nobody said."""

    slices: int = 0  # compute slices of MIG; the profile tells, for most boards
    replicas: int = 0  # time-slicing, or MPS by the Kubernetes device plugin
    shards: int = 0  # Slurm's gres/shard of one GPU
    mps: int = 100  # Slurm's gres/mps of one GPU, or percents of active threads
    memory: int = 0  # MiB, which HAMi's gpumem is a part of

    def part(self, scheme: str) -> Fraction:
        """One of the parts."""
        count = getattr(self, scheme) or (SEVEN if scheme == "slices" else 0)
        if not count:
            raise unknown(f"a board's {scheme}", scheme)
        return Fraction(1, count)


SCHEMES = tuple(Board.__dataclass_fields__)
PARTS = ("slices", "replicas", "shards", "mps")  # what a plain number may count
WHOLE = Board()


def unknown(what: str, setting: str) -> InputError:
    return InputError(
        "unknown-share", f"nobody said {what}", hint=f"set {setting} of a board, such as sharing = {{{setting} = 4}}"
    )


def gpus_of(text: str, board: Board = WHOLE, each: Fraction = Fraction(1)) -> Fraction:
    """How many boards a text speaks of: `2`, `3/7`, `25%`, `MIG 3g.20gb`, `2x1g.5gb`, `gres/shard=3`, `nvidia.com/gpu=1,nvidia.com/gpucores=30`.

    A plain number counts parts of the size `each`; a name counts what it names. What else Slurm's TRES text holds (`cpu=8,mem=64G,gres/gpu:a100=2`) is no GPU.
    """
    folded = without_other_tres(" ".join(text.casefold().split()))
    if not folded and "," in text:
        return Fraction(0)
    if folded.endswith("%"):
        return parse_fraction(folded[:-1].rstrip()) / 100
    if len(folded) > LONGEST or not re.search("[a-df-z]", folded):
        return parse_fraction(folded) * each
    held = dict(entries(folded))
    limits = {name: held.pop(name) for name in (MEMORY, PERCENT, CORES) if name in held}
    whole = held.pop("nvidia.com/gpu", None) if limits else None
    typed = {name: count for name, count in held.items() if name.startswith("gres/gpu:")}
    if "gres/gpu" in held:  # says again what the types say
        held["gres/gpu"] = max(held["gres/gpu"] - sum(typed.values()), Fraction(0))
    total = sum((count * share_of(name, board) for name, count in held.items()), Fraction(0))
    return total + (whole or 1) * limited(limits, board) if limits else total


def without_other_tres(text: str) -> str:
    """Slurm names several; one alone is more likely another column's."""
    if "," not in text:
        return text
    return ",".join(entry for entry in text.split(",") if not OTHER_TRES.fullmatch(entry.strip()))


def entries(text: str) -> Iterator[tuple[str, Fraction]]:
    """Names and counts; each name once."""
    seen = set()
    for entry in text.split(","):
        found = ENTRY.fullmatch(entry.strip())
        if not found or found[2] in seen or (found[1] and found[3]):
            raise InputError("invalid-number", f"{text!r} is no number of GPUs")
        seen.add(found[2])
        yield found[2], parse_fraction(found[1] or found[3] or "1")


def share_of(name: str, board: Board) -> Fraction:
    """One of what a name stands for."""
    bare = name.removesuffix(SHARED)
    replica = board.part("replicas") if bare != name else Fraction(1)
    kind = bare.rpartition("/")[2]
    if profile := PROFILE.fullmatch(bare):
        return slices_of(profile, board) * replica
    if kind == "gpu" or kind.startswith("gpu:"):
        return replica
    if kind.partition(":")[0] in ("shard", "mps"):
        return board.part("shards" if kind.startswith("shard") else "mps")
    if kind == "gpu-fraction":  # Run:ai's annotation: the fraction itself
        return Fraction(1)
    raise InputError("invalid-number", f"{name!r} is no part of a GPU")


def slices_of(profile: re.Match[str], board: Board) -> Fraction:
    """Compute slices over those of the board. `1c.3g.20gb` is a compute instance: one slice of a three-slice instance."""
    compute, instance, memory = profile.groups()
    slices = int(instance[0])
    boards = OTHER_SLICES.get(f"{instance}.{memory}gb", (SEVEN,))
    if not board.slices and len(boards) > 1:
        raise unknown(f"which board {instance}.{memory}gb is a slice of", "slices")
    whole = board.slices or boards[0]
    if slices > whole or int(compute or 1) > slices:
        raise InputError("invalid-number", f"{profile[0]!r} does not fit a board of {whole} slices")
    return Fraction(int(compute or slices), whole)


def limited(limits: Mapping[str, Fraction], board: Board) -> Fraction:
    """HAMi limits the memory and the cores of each GPU that it hands out."""
    percents = [limits[name] / 100 for name in (PERCENT, CORES) if name in limits]
    if MEMORY in limits:
        if not board.memory:
            raise unknown("how many MiB a board has", "memory")
        percents.append(limits[MEMORY] / board.memory)
    return max(percents)
