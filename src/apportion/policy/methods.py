"""The methods by which a pool is shared, and which settings mean something to each."""

from types import MappingProxyType

METERED = ("proportional", "time", "capacity_rate", "rate_card")
METHODS = ("direct", "even", "fixed", *METERED, "by_cost")
LATER_METHODS = (
    "two_part", "coincident_peak", "noncoincident_peak", "temporal_shapley", "peak_shapley", "time_of_use",
    "resource_weighted", "dominant_share", "reciprocal", "step_down", "energy_two_part",
)  # fmt: skip

# Without these the method cannot work.
NEEDS = MappingProxyType({
    "fixed": ("shares",), "rate_card": ("meter", "prices"), "proportional": ("meter",), "time": ("meter",), "capacity_rate": ("meter",),
})  # fmt: skip
# With any other method these would be read and then silently mean nothing: refused.
ONLY_WITH = MappingProxyType({
    "shares": ("fixed",), "members": ("even",), "prices": ("rate_card",), "free": ("rate_card",), "over": ("by_cost",), "from": ("by_cost",),
})  # fmt: skip
# These are often left over when a method is changed: a warning.
MATTERS_WITH = MappingProxyType({
    "meter": METERED, "usage": METERED, "driver": ("proportional", "capacity_rate", "rate_card"), "scope": METERED,
    "idle": ("capacity_rate",), "idle_slot": ("capacity_rate",), "weights": METERED, "credit": METERED,
    "on_zero": ("proportional", "time"),
})  # fmt: skip
PERIOD_SLOT = ("proportional", "time")
