"""A delivery's rows as they will be kept: fitting, once each, inside the window."""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache, cached_property
from typing import TYPE_CHECKING

from apportion.books.blocks import in_blocks
from apportion.books.digest import content_sum
from apportion.books.duplicates import Conflict, settle
from apportion.books.scopes import role_of, stated_scopes
from apportion.books.tables import KEEPING, fit
from apportion.books.window import inside
from apportion.model.delivery import Delivery, Rows

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa


class Prepared:
    """The content of the rows is summed beside the other work, and waited for when it is needed."""

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self.role = role_of(delivery)
        self.rows: dict[str, pa.Table] = {}  # or Blocks
        self.outside: dict[str, int] = {}
        self.sums: dict[str, Callable[[], int]] = {}
        self.conflicts: list[Conflict] = []
        for name in sorted(delivery.tables):
            self.take(name, delivery.tables[name])
        self.scopes = stated_scopes(delivery, self.rows.get("cost_lines"))

    def take(self, name: str, given: "pa.Table | Rows") -> None:
        if isinstance(given, Rows):
            found = in_blocks(name, given, self.delivery)
            if found is not None:
                self.rows[name], self.outside[name], self.sums[name] = found, len(given) - len(found), found.content_sum
                return
            given = given.table()
        settled, doubtful = settle(name, fit(name, given, self.delivery.source))
        rows = settled if KEEPING[name].cut == "none" else inside(name, settled, self.delivery.window)
        self.rows[name] = rows
        self.outside[name] = settled.num_rows - rows.num_rows
        self.sums[name] = summing().submit(content_sum, rows).result
        self.conflicts += doubtful

    @cached_property
    def digest(self) -> str:
        """What was said, whatever the order and the files it came in."""
        delivery = self.delivery
        said = {
            "source": delivery.source,
            "window": [delivery.window.start_s, delivery.window.end_s],
            "tables": {name: [rows.num_rows, f"{self.sums[name]():032x}"] for name, rows in self.rows.items()},
            "conflicts": sorted(json.dumps(asdict(conflict), sort_keys=True) for conflict in self.conflicts),
            "problems": sorted(json.dumps(asdict(problem), sort_keys=True) for problem in delivery.problems),
            "scopes": sorted(json.dumps(asdict(scope), sort_keys=True) for scope in delivery.scopes),
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


@cache
def summing() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="digest")
