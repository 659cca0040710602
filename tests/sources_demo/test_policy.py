"""The demo's policy is valid, gives every labelled workload an owner, and claims each cost line once."""

from collections import Counter
from importlib.resources import files

from apportion.model.delivery import Delivery
from apportion.model.rows import FOCUS_TEXT
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.sources.demo import Demo


def demo_policy() -> Policy:
    return load_policy((files("apportion.sources.demo") / "policy.yaml").read_text("utf-8"))


def test_it_loads_without_a_doubt() -> None:
    policy = demo_policy()
    assert policy.warnings == ()
    assert policy.time_zone == "America/Los_Angeles"
    assert {pool.method for pool in policy.pools.values()} == {"capacity_rate", "proportional", "fixed", "by_cost"}


def test_work_has_an_owner_unless_it_is_unlabelled(demo: Demo) -> None:
    policy, found = demo_policy(), Counter[str]()
    for work in demo.month.works:
        labels = dict(work.labels)
        rule = next((rule for rule in policy.owners if rule.when.matches(labels)), None)
        unlabelled = "slurm.account" not in labels and labels.get("k8s.namespace", "default") == "default"
        assert (rule is None) == unlabelled
        if rule:
            found[rule.team] += 1
            assert {rule.project.strip("{}"), rule.user.strip("{}")} <= set(labels)
    assert len(found) == 8


def test_every_job_has_a_phase(demo: Demo) -> None:
    policy = demo_policy()
    for name in {work.name for work in demo.month.works}:
        assert any("phase" in rule.sets and rule.when.matches({"name": name}) for rule in policy.facets), name


def test_each_line_belongs_to_one_pool_at_most(deliveries: list[Delivery]) -> None:
    policy, claimed = demo_policy(), Counter[str]()
    for delivery in deliveries[1:]:
        for row in delivery.tables["cost_lines"].to_pylist():
            labels = {name: row[name] for name in FOCUS_TEXT if row[name] is not None} | {
                f"tag.{key}": value for key, value in row["Tags"]
            }
            pools = [
                name for name, pool in policy.pools.items() if pool.costs is not None and pool.costs.matches(labels)
            ]
            assert len(pools) <= 1
            claimed.update(pools or ["none"])
    assert set(claimed) == {*policy.pools, "none"} - {"rest"}
