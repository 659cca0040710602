"""A delivery's rows as they will be kept: fitting, once each, inside the window."""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache, cached_property
from typing import TYPE_CHECKING

from apportion.books.blocks import Blocks, fits
from apportion.books.digest import content_sum
from apportion.books.duplicates import Conflict, Settled, settle, tell_capacity
from apportion.books.scopes import role_of, stated_scopes
from apportion.books.tables import KEEPING, fit
from apportion.books.window import inside
from apportion.errors import Problem
from apportion.model.delivery import Delivery, Rows, Withheld

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa


class Prepared:
    """The content of the rows is summed beside the other work, and waited for when it is needed. Rows in blocks are not read before that."""

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self.role = role_of(delivery)
        self.rows: dict[str, pa.Table | Blocks] = {}
        self.sums: dict[str, Callable[[], int]] = {}
        self.conflicts: list[Conflict] = []
        self.repeats: list[Problem] = []
        self.settled: dict[str, int] = {}  # rows before they were bounded by the window
        for name in sorted(delivery.tables):
            self.take(name, delivery.tables[name])
        self.scopes = stated_scopes(delivery, self.rows.get("cost_lines"))

    def take(self, name: str, given: "pa.Table | Rows") -> None:
        if isinstance(given, Rows) and fits(name):
            self.rows[name] = blocks = Blocks(name, given, self.delivery)
            self.settled[name], self.sums[name] = len(given), blocks.content_sum
        else:
            self.take_whole(name, given)

    def take_whole(self, name: str, given: "pa.Table | Rows") -> None:
        table = given.table() if isinstance(given, Rows) else given
        fitting = fit(name, table, self.delivery.source)
        keyed = self.delivery.is_keyed(name)
        settled, doubtful, again = settle(name, fitting) if keyed else Settled(fitting, [], fitting[:0])
        rows = settled if KEEPING[name].cut == "none" else inside(name, settled, self.delivery.window)
        self.rows[name], self.settled[name] = rows, settled.num_rows
        self.sums[name] = summing().submit(content_sum, rows).result
        self.conflicts += doubtful
        if name == "capacity" and len(again):
            self.repeats += tell_capacity(again, self.delivery)

    @property
    def in_blocks(self) -> "dict[str, Blocks]":
        return {name: rows for name, rows in self.rows.items() if isinstance(rows, Blocks)}

    def look(self) -> None:
        """Where two rows of one key are found, the table must be seen all at once."""
        for name, blocks in self.in_blocks.items():
            if not blocks.looked.unique:
                self.take_whole(name, blocks.rows)

    @property
    def outside(self) -> dict[str, int]:
        """Rows that do not lie in the window."""
        return {name: self.settled[name] - rows.num_rows for name, rows in self.rows.items()}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the source tells, and what is met here."""
        met = (conflict.problem(self.delivery.source) for conflict in self.conflicts)
        return (*self.delivery.problems, *met, *self.repeats)

    @property
    def withheld(self) -> tuple[Withheld, ...]:
        """What goes to the quarantine: what conflicts here, and what the source itself does not believe."""
        own = (Withheld(conflict.table, conflict.key, conflict.content) for conflict in self.conflicts)
        return (*own, *self.delivery.withheld)

    @cached_property
    def digest(self) -> str:
        """What was said, whatever the order and the files it came in."""
        self.look()
        delivery = self.delivery
        said = {
            "source": delivery.source,
            "window": [delivery.window.start_s, delivery.window.end_s],
            "tables": {name: [rows.num_rows, f"{self.sums[name]():032x}"] for name, rows in self.rows.items()},
            "conflicts": sorted(json.dumps(asdict(conflict), sort_keys=True) for conflict in self.conflicts),
            "problems": sorted(json.dumps(problem.to_dict(), sort_keys=True) for problem in delivery.problems),
            "scopes": sorted(json.dumps(asdict(scope), sort_keys=True) for scope in delivery.scopes),
        }
        if self.repeats:
            said["repeats"] = sorted(json.dumps(problem.to_dict(), sort_keys=True) for problem in self.repeats)
        if delivery.withheld:
            said["withheld"] = sorted(json.dumps(asdict(row), sort_keys=True) for row in delivery.withheld)
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


@cache
def summing() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="digest")
