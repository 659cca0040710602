"""What every pool of a plan is computed from."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from apportion.engine.account import Column
from apportion.engine.backend import Backend
from apportion.engine.bearers import Bearers
from apportion.engine.calendar import Calendar
from apportion.engine.encode import Encoded
from apportion.engine.resources import Resources
from apportion.engine.workloads import Workforce
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.policy.pools import Pool


@dataclass(frozen=True, slots=True)
class Setting:
    """The period's evidence, encoded; `currencies` of each bill."""

    period: Period
    policy: Policy
    calendar: Calendar
    workforce: Workforce
    resources: Resources
    encoded: Encoded
    capacity: list[dict[str, Any]]
    reservations: pa.Table
    currencies: Mapping[str, str]
    backend: Backend
    bearers: Bearers
    late: bool = False  # as of the world
    nodes: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by pool: what keeps the money that names it

    def currency_of(self, column: Column) -> str:
        """That of its bill; a price list that is the bill is in the policy's."""
        return self.currencies.get(column.bill, self.policy.currency)

    def curves_of(self, pool: str, inside: Collection[int]) -> dict[str, int]:
        """The curve of each resource that a pool counts use on, or that keeps money of its own there."""
        nodes = self.nodes.get(pool, frozenset())
        return {name: n + 1 for n, name in enumerate(self.encoded.resources) if n in inside or name in nodes}

    def with_pools(self, pools: Mapping[str, Pool]) -> "Setting":
        """The same setting, where these pools go by those names. They are not checked anew."""
        return replace(self, policy=self.policy.model_copy(update={"pools": {**self.policy.pools, **pools}}))
