"""Plans of one month that share what they have in common are those that are made alone, and count units as charges do."""

import pytest

from apportion.engine.charges import charges_of
from apportion.engine.tallies import units_in
from apportion.model.times import Period
from apportion.reports.backtest import currencies_of, units_of
from apportion.verbs.draft import policy_text
from apportion.verbs.plan import compute
from apportion.verbs.project import Project
from apportion.verbs.repriced import Instead, Rehearsal, read_prices, rehearsal
from apportion.verbs.supposed import Changes, read_changes, supposed
from apportion.verbs.whatif import pinned, policy_of

OCTOBER = Period(2026, 10)
METHOD = "    method: capacity_rate\n"
RULES = {
    "a blend": "    method: capacity_rate\n    driver: {blend: 0.5}\n",
    "peak": "    method: peak_shapley\n",
    "by node": "    method: capacity_rate\n    scope: resource\n",
    "by occupied time": "    method: time\n",
    "weights": '    method: proportional\n    weights: {slurm.account: {"vis-*": 2}}\n    credit: [{outcome: failed, percent: 50, paid_by: platform}]\n',
}


@pytest.fixture(scope="module")
def stage(small: Project) -> Rehearsal:
    return rehearsal(small, OCTOBER, pinned(small, OCTOBER)[0])


@pytest.mark.parametrize("name", RULES)
def test_a_plan_beside_others_is_the_plan_alone(small: Project, stage: Rehearsal, name: str) -> None:
    text = policy_text(small).replace(METHOD, RULES[name])
    new = supposed(policy_of(small, OCTOBER), OCTOBER, text, read_changes(Changes()))
    plan, _ = stage.plan(new)
    alone = compute(small, OCTOBER, new.policy, stage.pins).plan
    assert plan.postings.equals(alone.postings)
    assert (plan.exact, plan.digest) == (alone.exact, "")
    counted = units_of(charges_of(alone), currencies_of(alone.postings))
    assert {leaf: units for leaf, units in units_in(plan).items() if units} == {
        leaf: units for leaf, units in counted.items() if units
    }


def test_a_price_elsewhere_leaves_a_pool_as_it_was_found(small: Project, stage: Rehearsal) -> None:
    own = policy_of(small, OCTOBER)
    first = stage.plan(Instead(own))[0].trace.pools
    dearer = stage.plan(Instead(own, read_prices(["disks=+10%"])))[0].trace.pools
    again = stage.plan(Instead(own))[0].trace.pools
    assert first["gpus"] is dearer["gpus"] is again["gpus"]
    assert first["disks"] is again["disks"] is not dearer["disks"]
