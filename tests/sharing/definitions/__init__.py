"""Methods as their definitions say, unit by unit and order by order: slow, plain, and written without the engine.

A definition takes the bill in minor units and all that the problem says, parameters and inputs in one table.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from tests.sharing.definitions import orders, rest, units

DEFINITIONS: dict[str, Callable[[int, Mapping[str, Any]], dict[str, Fraction]]] = {
    "proportional": units.proportional,
    "even": units.even,
    "fixed_weights": units.fixed_weights,
    "capacity_rate": units.capacity_rate,
    "max_request_usage": units.max_request_usage,
    "blend": units.blend,
    "two_part": units.two_part,
    "rate_card": units.rate_card,
    "coincident_peak": units.coincident_peak,
    "noncoincident_peak": units.noncoincident_peak,
    "time_of_use": units.time_of_use,
    "airport_shapley": orders.airport_shapley,
    "temporal_shapley": orders.temporal_shapley,
    "peak_shapley": orders.peak_shapley,
    "shapley_table": orders.shapley_table,
    "incremental": orders.incremental,
    "scrb": orders.scrb,
    "serial": orders.serial,
    "average_cost": orders.average_cost,
    "resource_weighted": rest.resource_weighted,
    "dominant_share": rest.dominant_share,
    "aumann_shapley_binding": rest.aumann_shapley_binding,
    "energy_two_part": rest.energy_two_part,
    "reciprocal": rest.reciprocal,
    "step_down": rest.step_down,
    "direct_method": rest.direct_method,
    "cap_and_sponsor": rest.cap_and_sponsor,
    "percent_subsidy": rest.percent_subsidy,
    "floor": rest.floor,
    "smooth": rest.smooth,
    "fx": rest.fx,
}
