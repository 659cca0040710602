"""Small worlds from a seed: a policy, a bill or two, usage, capacity, reservations. `world(seed)` is always the same world."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

import pyarrow as pa

from apportion.model.rows import TABLES
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.policy.methods import SERVICES
from tests.property.worlds_more import Draft, add_more
from tests.property.worlds_policy import draw_policy, write_policy
from tests.property.worlds_rows import crowd, draw_rows
from tests.property.worlds_scene import Scene, draw_scene

Row = Mapping[str, Any]


@dataclass(frozen=True)
class World:
    period: str
    policy_text: str
    cost_lines: tuple[Row, ...] = ()
    usage: tuple[Row, ...] = ()
    capacity: tuple[Row, ...] = ()
    reservations: tuple[Row, ...] = ()
    workloads: tuple[Row, ...] = ()
    rates: tuple[Row, ...] = ()
    previous: Mapping[str, Decimal] = field(default_factory=dict)
    name: str = "by hand"

    @property
    def policy(self) -> Policy:
        return loaded(self.policy_text)

    def tables(self) -> dict[str, pa.Table]:
        return {name: as_table(name, getattr(self, name)) for name in TABLES}

    def shuffled(self, seed: int) -> "World":
        dice = random.Random(seed)
        rows: dict[str, Any] = {
            name: tuple(dice.sample(getattr(self, name), len(getattr(self, name)))) for name in TABLES
        }
        return replace(self, **rows)

    def __str__(self) -> str:
        """Compact enough to read in a failure, complete enough to rebuild by eye."""
        lines = [f"{self.name}: {self.period}", self.policy_text]
        for name in TABLES:
            lines.append(f"{name}:")
            lines += [
                "  " + " ".join(f"{key}={value}" for key, value in row.items() if value not in (None, {}, ""))
                for row in getattr(self, name)
            ]
        if self.previous:
            lines.append(f"previous: {dict(self.previous)}")
        return "\n".join(lines)


@lru_cache(maxsize=64)
def loaded(text: str) -> Policy:
    return load_policy(text)


def as_table(name: str, rows: Iterable[Row]) -> pa.Table:
    schema = TABLES[name]
    listed = [
        {key: list(value.items()) if isinstance(value, dict) else value for key, value in row.items()} for row in rows
    ]
    return pa.Table.from_pylist(listed, schema=schema)


def world(seed: int, size: int = 3, methods: Sequence[str] = (), *, boards: bool = False) -> World:
    """`size` 0 is a handful of rows over a few hours with a short billing period; 3 is everything. `methods`: of the GPU pools, unless as drawn.
    `boards`: with more rows that hold parts of a few boards.
    """
    dice = random.Random(f"{seed}/{size}")
    scene = draw_scene(dice, size)
    if methods:
        scene = staged(scene, methods[seed % len(methods)], seed)
    rules, previous = draw_policy(dice, scene)
    rows = draw_rows(dice, scene)
    if boards:
        rows = crowd(random.Random(f"{seed}/{size}/boards"), scene, rows)
    draft = Draft(random.Random(f"{seed}/{size}/more"), scene, rules, rows)
    add_more(draft)
    return World(
        scene.period,
        write_policy(rules),
        **{name: tuple(rows.get(name, ())) for name in TABLES},
        previous=previous | draft.previous,
        name=f"world({seed}, {size}{', boards' if boards else ''})",
    )


def staged(scene: Scene, method: str, seed: int) -> Scene:
    """The same scene with a method of its own, and what that method needs to show."""
    if method == "energy_two_part":
        return replace(scene, gpu_method="capacity_rate", extras=scene.extras | {"energy"}, two_energies=True)
    if method in SERVICES:
        extras = scene.extras | {"storage", "licences", "rest"}
        return replace(scene, gpu_method="capacity_rate", extras=extras, services=method)
    if method in ("resource_weighted", "dominant_share") and seed % 4:
        return replace(scene, gpu_method=method, gpu_meters=("gpu", "cpu", "memory"))
    return replace(scene, gpu_method=method)
