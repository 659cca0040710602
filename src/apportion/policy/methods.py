"""The methods by which a pool is shared, and which settings mean something to each."""

from types import MappingProxyType

VALUES_HOURS = ("coincident_peak", "temporal_shapley", "time_of_use")
VALUES_TEAMS = ("noncoincident_peak", "peak_shapley")
VALUED = (*VALUES_HOURS, *VALUES_TEAMS)
SHOWS_IDLE = ("capacity_rate", "two_part", "resource_weighted")  # capacity that nobody used has its price in every slot
RESERVED = ("proportional", "capacity_rate", "two_part", *VALUED)  # reservations mean something: unused, or exceeded
PARTED = ("resource_weighted", "dominant_share", "energy_two_part")  # several measures side by side
DRIVEN = ("proportional", "capacity_rate", "two_part", "rate_card", *VALUED, "resource_weighted", "dominant_share")
METERED = ("proportional", "time", "capacity_rate", "two_part", "rate_card", *VALUED, *PARTED)
SERVICES = ("reciprocal", "step_down")  # the money goes to other pools, and is shared there
METHODS = ("direct", "even", "fixed", *METERED, "by_cost", *SERVICES)

# Without these the method cannot work.
NEEDS = MappingProxyType({
    "fixed": ("shares",), "rate_card": ("meter", "prices"), "proportional": ("meter",), "time": ("meter",), "capacity_rate": ("meter",),
    "coincident_peak": ("meter",), "temporal_shapley": ("meter",), "time_of_use": ("meter", "times"),
    "noncoincident_peak": ("meter",), "peak_shapley": ("meter",), "two_part": ("meter",),
    "resource_weighted": ("meter",), "dominant_share": ("meter",), "energy_two_part": ("meter", "static_share"),
    "reciprocal": ("serves",), "step_down": ("serves",),
})  # fmt: skip
# With any other method these would be read and then silently mean nothing: refused.
ONLY_WITH = MappingProxyType({
    "shares": ("fixed",), "members": ("even",), "prices": ("rate_card",), "free": ("rate_card",), "over": ("by_cost",), "from": ("by_cost",),
    "k": ("coincident_peak",), "weighted": ("temporal_shapley",), "times": ("time_of_use",),
    "burst_price": ("two_part",), "lend_credit": ("two_part",), "serves": SERVICES, "static_share": ("energy_two_part",),
})  # fmt: skip
# These are often left over when a method is changed: a warning.
MATTERS_WITH = MappingProxyType({
    "meter": METERED, "usage": METERED, "driver": DRIVEN, "scope": METERED,
    "idle": (*SHOWS_IDLE, "coincident_peak", "temporal_shapley", *VALUES_TEAMS), "idle_slot": SHOWS_IDLE, "weights": METERED, "credit": METERED,
    "on_zero": ("proportional", "time", *VALUED, "dominant_share", "energy_two_part"),
})  # fmt: skip
LEVELS_ONLY = ("two_part", "resource_weighted", "dominant_share")
PERIOD_SLOT = ("proportional", "time", "energy_two_part")
