"""Every method by its name."""

from apportion.engine.sharing import (
    capacity,
    currency,
    games,
    peaks,
    pools,
    poststeps,
    proportional,
    resources,
    shapley,
    tiers,
)
from apportion.engine.sharing.method import Method

FAMILIES = (proportional, capacity, peaks, shapley, games, tiers, resources, pools, poststeps, currency)
METHODS: dict[str, Method] = {method.name: method for family in FAMILIES for method in family.METHODS}

# Worked problems of the same collection that are no split of one bill, and the verb that does the work.
ELSEWHERE = {
    "restatement_delta": "`apply` posts the difference when a period is planned again",
    "hierarchy": "`plan` rounds down the tree of cost centre, department, team, project and user",
    "local_day_split": "`plan` cuts intervals into the days of the policy's time zone",
}
