"""A delivery's rows as they will be kept: fitting, once each, inside the window."""

import hashlib
import json
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from functools import cache, cached_property
from typing import TYPE_CHECKING

from apportion.books.digest import content_sum
from apportion.books.duplicates import Conflict, settle
from apportion.books.scopes import role_of, stated_scopes
from apportion.books.tables import KEEPING, fit
from apportion.books.window import inside
from apportion.model.delivery import Delivery

if TYPE_CHECKING:
    import pyarrow as pa


class Prepared:
    """The content of the rows is summed beside the other work, and waited for when it is needed."""

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self.role = role_of(delivery)
        self.rows: dict[str, pa.Table] = {}
        self.outside: dict[str, int] = {}
        self.sums: dict[str, Future[int]] = {}
        self.conflicts: list[Conflict] = []
        for name in sorted(delivery.tables):
            settled, doubtful = settle(name, fit(name, delivery.tables[name], delivery.source))
            rows = settled if KEEPING[name].cut == "none" else inside(name, settled, delivery.window)
            self.rows[name] = rows
            self.outside[name] = settled.num_rows - rows.num_rows
            self.sums[name] = summing().submit(content_sum, rows)
            self.conflicts += doubtful
        self.scopes = stated_scopes(delivery, self.rows.get("cost_lines"))

    @cached_property
    def digest(self) -> str:
        """What was said, whatever the order and the files it came in."""
        delivery = self.delivery
        said = {
            "source": delivery.source,
            "window": [delivery.window.start_s, delivery.window.end_s],
            "tables": {name: [rows.num_rows, f"{self.sums[name].result():032x}"] for name, rows in self.rows.items()},
            "conflicts": sorted(json.dumps(asdict(conflict), sort_keys=True) for conflict in self.conflicts),
            "problems": sorted(json.dumps(asdict(problem), sort_keys=True) for problem in delivery.problems),
            "scopes": sorted(json.dumps(asdict(scope), sort_keys=True) for scope in delivery.scopes),
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


@cache
def summing() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="digest")
