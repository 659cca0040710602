"""Usage in whole numbers: every workload, resource and meter becomes a dense integer once, before anything is joined or summed.

With text keys one step over 20 million rows takes 65 s instead of 5 s.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import ibis
import numpy as np
import pyarrow as pa

from apportion.engine.amounts import held_units
from apportion.engine.backend import Backend
from apportion.engine.resources import Resources
from apportion.engine.workloads import Workforce
from apportion.model.meters import METERS
from apportion.model.times import Interval

METER_NUMBER: Mapping[str, int] = {name: number for number, name in enumerate(sorted(METERS))}


@dataclass(frozen=True, slots=True)
class Bound:
    """Of a meter's usage: how many rows, and the largest amounts of any of them."""

    rows: int
    allocated: int
    used: int


@dataclass(frozen=True)
class Encoded:
    """`fresh`: work, person, resource, meter, start_s, end_s, allocated, used. A workload that nobody described is -1, its person the last."""

    fresh: Any
    resources: tuple[str, ...]
    backend: Backend
    usage: Any

    def with_resources(self, more: Iterable[str]) -> "Encoded":
        """The same rows, where resources without any have numbers, too."""
        names = tuple(sorted(set(more) - set(self.resources)))
        return replace(self, resources=(*self.resources, *names)) if names else self

    @cached_property
    def bounds(self) -> dict[str, Bound]:
        """By meter."""
        usage = self.usage
        largest = {"allocated": ibis.coalesce(held_units(usage).max(), 0), "used": ibis.coalesce(usage.used.max(), 0)}
        found = usage.group_by("meter").aggregate(rows=usage.count(), **largest).to_pyarrow().to_pylist()
        return {row.pop("meter"): Bound(**row) for row in found}

    @cached_property
    def rows(self) -> Any:
        """The same, computed once for all that read them again."""
        return self.backend.keep(self.fresh)


@dataclass(frozen=True, slots=True)
class Scope:
    window: Interval
    meters: tuple[str, ...]


def encode(usage: Any, workforce: Workforce, resources: Resources, scope: Scope, backend: Backend) -> Encoded:
    """Only what some pool may ask about."""
    names = tuple(resources.labels)
    unknown = len(workforce.seasons[0].persons) - 1 if workforce.seasons else 0
    persons = workforce.seasons[0].person_of if workforce.seasons else np.zeros(len(workforce.ids), dtype=np.int64)
    workloads = backend.lend(pa.table({
        "workload": workforce.ids,
        "work": pa.array(np.arange(len(workforce.ids), dtype=np.int32)),
        "person": pa.array(persons.astype(np.int32)),
    }))  # fmt: skip
    nodes = backend.lend(pa.table({
        "resource": pa.array(names, pa.string()),
        "number": pa.array(np.arange(len(names), dtype=np.int32)),
    }))  # fmt: skip
    window, meters = scope.window, scope.meters or tuple(METER_NUMBER)
    usage = usage.filter(
        usage.start_s < window.end_s,
        usage.end_s > window.start_s,
        usage.end_s > usage.start_s,
        usage.meter.isin(meters),
    )
    meter = ibis.cases(*((usage.meter == name, METER_NUMBER[name]) for name in meters), else_=-1)
    joined = usage.mutate(meter_number=meter.cast("int8")).join(nodes, "resource").left_join(workloads, "workload")
    rows = joined.select(
        work=ibis.coalesce(joined.work, -1).cast("int32"),
        person=ibis.coalesce(joined.person, unknown).cast("int32"),
        resource=joined.number,
        meter=joined.meter_number,
        start_s=joined.start_s,
        end_s=joined.end_s,
        allocated=held_units(joined),
        used=joined.used,
    )
    return Encoded(rows, names, backend, usage)
