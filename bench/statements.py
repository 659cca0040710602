"""Statements of an organisation, drawn from a seed: every section filled, and everything adds up."""

import os
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from apportion.render.statement import render
from apportion.render.statement.batch import render_all
from apportion.reports.statement.shape import (
    TEMPLATE,
    Adjustment,
    Budget,
    Change,
    Correction,
    Line,
    Part,
    Rule,
    Statement,
    Use,
    Workload,
)
from bench.measure import Clock

COUNT, ALONE = 500, 10
POOLS = ("h100-east", "a100", "cpu", "storage")
UNITS = ("gpu", "gpu", "core", "TiB")
COMPONENTS = ("compute", "storage", "network", "licences", "support")
REASONS = ("usage", "idle", "overhead", "adjustments", "corrections")
RULES = (
    (
        "h100-east",
        "Hours held are priced by slot; what nobody held is shared by the hours of the month.",
        "pools.h100-east.method",
    ),
    ("a100", "Hours held at one price for the month.", "pools.a100.method"),
    ("", "Overhead is shared by what each team was charged.", "overhead"),
)


@dataclass(frozen=True, slots=True)
class Size:
    projects: int = 9
    users: int = 12
    workloads: int = 15


def statement_of(seed: int, size: Size = Size()) -> Statement:  # noqa: B008  # frozen
    """One team's October, after its September."""
    rng = Random(seed)  # noqa: S311  # no secret
    owed, before = rng.randrange(5_000_000, 40_000_000), rng.randrange(5_000_000, 40_000_000)
    adjusted, corrected = -rng.randrange(100_000, 500_000), rng.randrange(-90_000, 90_000)
    reasons = [*split(rng, owed - adjusted - corrected, 3), adjusted, corrected]
    pools = split(rng, owed, len(POOLS))
    return Statement(
        template=TEMPLATE,
        number=f"2026-{seed:06d}",
        period="2026-10",
        level="team",
        owner=f"team-{seed:03d}",
        mode="chargeback",
        currency="USD",
        digits=2,
        issuer="Research computing",
        issued="2026-11-05",
        head=sha256(f"head {seed}".encode()).hexdigest(),
        policy=f"v{sha256(b'policy').hexdigest()[:12]}",
        basis="effective cost",
        owed=owed,
        charged=owed,
        carried=0,
        before=before,
        summary=compared(rng, REASONS, reasons, before),
        changes=changes_of(rng, owed - before),
        parts=(
            Part("component", compared(rng, COMPONENTS, split(rng, owed, len(COMPONENTS)), before)),
            Part("pool", compared(rng, POOLS, pools, before)),
            Part("project", part_lines(rng, "project", size.projects, owed)),
            Part("user", part_lines(rng, "user", size.users, owed)),
            Part("stage", compared(rng, ("train", "evaluate", ""), split(rng, owed, 3), before)),
        ),
        children=part_lines(rng, "project", size.projects, owed),
        workloads=workloads_of(rng, size.workloads, owed),
        usage=tuple(use_of(rng, *pool) for pool in zip(POOLS, UNITS, pools, strict=True)),
        budgets=(
            Budget("month", "", 40_000_000, owed, 40_000_000 - owed),
            Budget("year", "h100-east", 200_000_000, 10 * pools[0], 200_000_000 - 10 * pools[0]),
        ),
        adjustments=(adjustment_of(adjusted),),
        corrections=(correction_of(rng, before, corrected),),
        quantities=(("gCO2e", str(rng.randrange(10**6, 10**8))), ("kWh", f"{rng.randrange(10**4, 10**5)}.5")),
        how=tuple(Rule(*rule, line=12 + 9 * n) for n, rule in enumerate(RULES)),
        dispute=f"Within 30 days: apportion dispute open --statement 2026-{seed:06d} --why TEXT, or write to finance.",
    )


def adjustment_of(amount: int) -> Adjustment:
    why = "special needs: foundation model"
    return Adjustment("received", "vice-deans-fund", "h100-east", amount, why, "A. Approver", "2026-12-31")


def correction_of(rng: Random, was: int, amount: int) -> Correction:
    runs = (run_id(rng), run_id(rng))
    return Correction("2026-09", "the bill of cloud-a was restated", was, was + amount, amount, runs)


def split(rng: Random, whole: int, count: int) -> list[int]:
    """Parts of a sum, the largest first."""
    cuts = sorted(rng.randrange(whole + 1) for _ in range(count - 1))
    return sorted((b - a for a, b in zip((0, *cuts), (*cuts, whole), strict=True)), reverse=True)


def compared(rng: Random, names: Sequence[str], amounts: Sequence[int], before: int) -> tuple[Line, ...]:
    return tuple(
        Line(name, amount, earlier)
        for name, amount, earlier in zip(names, amounts, split(rng, before, len(names)), strict=True)
    )


def part_lines(rng: Random, name: str, count: int, whole: int) -> tuple[Line, ...]:
    return tuple(Line(f"{name}-{n:02d}", amount) for n, amount in enumerate(split(rng, whole, count)))


def changes_of(rng: Random, moved: int) -> tuple[Change, ...]:
    drivers = ("volume", "price", "mix", "idle", "policy")
    drawn = [Change(driver, pool, rng.randrange(-900_000, 900_000)) for driver in drivers for pool in POOLS[:2]]
    return (*drawn, Change("other", "", moved - sum(change.amount for change in drawn)))


def use_of(rng: Random, pool: str, unit: str, amount: int) -> Use:
    held = rng.randrange(1_000, 90_000)
    used = rng.randrange(held // 3, held)
    if pool == "storage":
        return Use(pool, unit, f"{held}.000000", None, f"{held}.000000", amount, None)
    return Use(pool, unit, f"{held}.000000", f"{used}.500000", "0", amount, amount * (held - used) // held)


def workloads_of(rng: Random, count: int, owed: int) -> tuple[Workload, ...]:
    *ran, others, of_none = split(rng, owed, count + 2)
    found = [
        Workload(
            f"{rng.randrange(10**6, 10**7)}",
            f"pretrain-{n}",
            f"project-{n % 5:02d}",
            f"user-{n % 7:02d}",
            "gpu",
            f"{rng.randrange(10, 5000)}.25",
            f"{rng.randrange(1, 10)}.125000" if n % 4 else None,
            amount,
            amount // 3 if n % 4 else None,
        )
        for n, amount in enumerate(ran)
    ]
    rest = (
        Workload("", name, "", "", "", "", None, amount, None)
        for name, amount in (("all others", others), ("of no workload", of_none))
    )
    return (*found, *rest)


def run_id(rng: Random) -> str:
    return f"{rng.getrandbits(48):012x}"


def statements_500(folder: Path) -> dict[str, Any]:
    """The statements of 500 teams as PDF, five pages each, by as many workers as there are cores."""
    statements = [statement_of(seed) for seed in range(COUNT)]
    clock = Clock()
    for statement in statements[: ALONE + 1]:
        alone = clock.time("alone", partial(render, statement, "pdf"))
    with TemporaryDirectory(dir=folder) as out:
        paths = clock.time("all", lambda: render_all(statements, "pdf", Path(out), lambda *_: None))
        if len(paths) != COUNT or paths[ALONE].read_bytes() != alone:
            raise AssertionError("a statement of many is another than that statement alone")
        size = sum(path.stat().st_size for path in paths)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = used.ru_utime + used.ru_stime
    return {
        "cores": len(os.sched_getaffinity(0)),
        "seconds": round(clock.cold("all"), 1),
        "worker_seconds_each": round(busy / COUNT, 3),
        "seconds_on_two_idle_cores": round(busy / 2, 1),
        "ratio_to_one_by_one": round(clock.cold("all") / COUNT / clock.warm("alone"), 2),
        "kilobytes_each": round(size / COUNT / 1000),
    }
