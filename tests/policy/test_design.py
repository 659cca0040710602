"""The example of the design is read word for word, and means what it says."""

from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from pydantic import ValidationError

from apportion.model.currencies import MINOR_DIGITS
from apportion.model.meters import GPU
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.policy.match import Selector

TEXT = (Path(__file__).parent / "design.yaml").read_text(encoding="utf-8")
HEAD = "policy: lab\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n"


@pytest.fixture(scope="module")
def policy() -> Policy:
    return load_policy(TEXT, "design.yaml")


def one_pool(inside: str) -> Policy:
    return load_policy(f"{HEAD}pools: {{p: {{costs: {{a: b}}, {inside}}}}}\n")


def test_it_is_the_design_word_for_word() -> None:
    design = Path(__file__).parents[2] / ".." / "shared" / "design.md"
    if not design.exists():
        pytest.skip("no ../shared/design.md")
    assert "```yaml\n" + TEXT.rstrip("\n") + "\n```" in design.read_text(encoding="utf-8")


def test_head(policy: Policy) -> None:
    assert (policy.name, policy.effective, policy.currency) == ("research-cluster", date(2026, 10, 1), "USD")
    assert (policy.time_zone, policy.basis, policy.file) == ("America/Los_Angeles", "effective", "design.yaml")
    assert policy.fx is not None
    assert (policy.fx.table, policy.fx.rate) == ("fx.csv", "month_average")
    assert policy.text == TEXT
    vision = policy.teams["vision"]
    assert (vision.department, vision.cost_centre, vision.class_, vision.mode) == (
        "research",
        "4711",
        "internal",
        "chargeback",
    )
    assert vision.from_ == date(2027, 1, 1)
    assert policy.carried_by == {
        "_idle": "ml-platform",
        "_unallocated": "finance",
        "_residual": "finance",
        "showback": "corporate-it",
    }


def test_owners_and_facets(policy: Policy) -> None:
    first, second = policy.owners
    assert (first.team, first.project, first.user) == ("vision", "{slurm.wckey}", "")
    assert first.when.matches({"slurm.account": "vision-x"})
    assert second.when.matches({"SubAccountId": "777"})
    assert second.when.matches({"SubAccountId": "12345"})
    assert not second.when.matches({"SubAccountId": "123"})
    (facet,) = policy.facets
    assert facet.sets == {"phase": "training"}
    assert facet.when.matches({"k8s.label.trainer.kubeflow.org/trainjob-ancestor-step": "trainer"})


def test_reservations_are_in_base_units(policy: Policy) -> None:
    (reservation,) = policy.reservations
    assert (reservation.team, reservation.pool, reservation.meter) == ("bio", "h100", "gpu")
    assert reservation.amount == 32 * GPU
    assert (reservation.from_, reservation.until) == (date(2026, 10, 1), date(2027, 3, 31))
    assert reservation.holds_on(date(2027, 3, 31))
    assert not reservation.holds_on(date(2027, 4, 1))
    assert not reservation.holds_on(date(2026, 9, 30))


def test_pools(policy: Policy) -> None:
    assert list(policy.pools) == ["h100", "cards", "storage", "licences", "platform", "rest"]
    h100 = policy.pools["h100"]
    assert (h100.method, h100.scope, h100.slot, h100.idle_slot) == ("capacity_rate", "pool", "hour", "period")
    assert (h100.meter, h100.driver.kind, h100.driver.alpha) == ({"gpu": Fraction(1)}, "allocated", Fraction(1))
    assert h100.weights == {"phase": {"tuning": Fraction(4, 5), "interactive": Fraction(6, 5)}}
    assert h100.idle == {"unsold": "central", "reserved": "holder", "held": "holder", "down": "central"}
    (credit,) = h100.credit
    assert (credit.outcome, credit.percent, credit.max_hours, credit.paid_by) == (
        "node_fail",
        Fraction(100),
        Fraction(4),
        "ml-platform",
    )
    assert h100.costs is not None
    assert h100.costs.keys == {"ServiceName", "tag.node-group"}
    assert h100.usage is not None
    assert h100.usage.matches({"node": "h100-17"})


def test_other_methods(policy: Policy) -> None:
    cards, storage, licences, platform, rest = (policy.pools[name] for name in list(policy.pools)[1:])
    assert (cards.method, cards.costs, cards.prices[0].per, cards.prices[0].price) == (
        "rate_card",
        None,
        "hour",
        Fraction(21, 10),
    )
    assert cards.prices[0].when is not None
    assert cards.prices[0].when.matches({"class": "internal"})
    assert cards.free is not None
    assert (cards.free.per, cards.free.amount, cards.free.paid_by) == ("user", Fraction(100), "faculty")
    assert (storage.method, storage.slot) == ("proportional", "period")
    assert licences.shares == {"vision": 60, "speech": 40}
    assert (platform.method, platform.from_owner, platform.over, platform.otherwise) == (
        "by_cost",
        "ml-platform",
        "all",
        False,
    )
    assert (rest.method, rest.costs, rest.otherwise, rest.from_owner) == ("by_cost", None, True, None)


def test_adjustments_and_quotas(policy: Policy) -> None:
    percent, preemptible, smooth = policy.adjustments
    assert (percent.team, percent.pool, percent.percent, percent.sponsor) == (
        "genomics",
        "h100",
        Fraction(-30),
        "research-office",
    )
    assert (percent.until, percent.why) == (date(2026, 12, 31), "protein folding push")
    assert preemptible.when is not None
    assert preemptible.when.matches({"slurm.qos": "preemptible"})
    assert (preemptible.team, preemptible.percent) == (None, Fraction(-60))
    assert (smooth.smooth, smooth.percent) == (Fraction(20), None)
    (quota,) = policy.quotas
    assert (quota.hours, quota.per, quota.warn, quota.enforce) == (
        Fraction(20000),
        "month",
        (Fraction(80), Fraction(95)),
        "slurm",
    )


def test_lines(policy: Policy) -> None:
    lines = TEXT.splitlines()
    assert lines[policy.line("pools", "h100", "idle") - 1].lstrip().startswith("idle:")
    assert lines[policy.line("pools", "h100") - 1] == "  h100:"
    assert "SubAccountId" in lines[policy.line("owners", 1) - 1]
    assert policy.line("pools", "h100", "free") == policy.line("pools", "h100")
    assert policy.line("owners", 7) == policy.line("owners")
    assert policy.line() == policy.line("nothing") == 1


def test_undeclared_teams_are_told(policy: Policy) -> None:
    assert [warning.partition(": ")[0] for warning in policy.warnings] == [
        "design.yaml:20:12",
        "design.yaml:39:12",
        "design.yaml:41:12",
    ]
    assert ["'bio'" in policy.warnings[0], "'genomics'" in policy.warnings[1], "'ads'" in policy.warnings[2]] == [
        True
    ] * 3


def test_frozen(policy: Policy) -> None:
    with pytest.raises(ValidationError):
        policy.name = "other"  # type: ignore[misc]  # the very thing that must fail


def test_short_forms_and_usual_values() -> None:
    plain = one_pool("meter: gpu").pools["p"]
    assert (plain.method, plain.slot, plain.basis, plain.component) == ("capacity_rate", "hour", None, None)
    assert plain.idle == {"unsold": "central", "reserved": "central", "held": "holder", "down": "central"}
    assert (plain.on_zero, plain.over, plain.members, plain.credit, plain.free) == ("unallocated", "all", (), (), None)
    for word in ("central", "proportional", "even"):
        assert set(one_pool(f"meter: gpu, idle: {word}").pools["p"].idle.values()) == {word}
    reservation = one_pool("meter: gpu, idle: reservation").pools["p"].idle
    assert reservation == {"unsold": "central", "reserved": "holder", "held": "holder", "down": "central"}
    partly = one_pool("meter: gpu, idle: {down: even}").pools["p"].idle
    assert partly == {"unsold": "central", "reserved": "central", "held": "holder", "down": "even"}
    assert one_pool("meter: gpu, method: time").pools["p"].slot == "period"
    assert one_pool("meter: gpu, method: time, slot: day").pools["p"].slot == "day"
    assert one_pool("method: by_cost, over: [a, b]").pools["p"].over == ("a", "b")


@pytest.mark.parametrize(
    ("driver", "kind", "alpha"),
    [("allocated", "allocated", 1), ("used", "used", 0), ("max", "max", 1), ("{blend: 0.3}", "blend", Fraction(3, 10))],
)
def test_drivers(driver: str, kind: str, alpha: Fraction) -> None:
    found = one_pool(f"meter: gpu, driver: {driver}").pools["p"].driver
    assert (found.kind, found.alpha) == (kind, alpha)


def test_numbers_are_exact() -> None:
    meter = one_pool('meter: {gpu: 9, cpu: 0.9, memory: "0.1", node: 1/3}').pools["p"].meter
    assert meter == {"gpu": 9, "cpu": Fraction(9, 10), "memory": Fraction(1, 10), "node": Fraction(1, 3)}
    assert all(type(weight) is Fraction for weight in meter.values())


def test_names_are_normalised_and_numbers_stay_text() -> None:
    policy = load_policy(HEAD + "teams: {cafe\u0301: {cost_centre: 0042, department: true}, 7: }\n")
    assert list(policy.teams) == ["caf\u00e9", "7"]
    assert (policy.teams["caf\u00e9"].cost_centre, policy.teams["caf\u00e9"].department) == ("0042", "true")


def test_sections_may_be_commented_out_and_values_aliased() -> None:
    text = "owners:\nquotas: # none yet\nteams: {a: &team {department: x}, b: *team}\nfacets: []\n"
    policy = load_policy(HEAD + text)
    assert (policy.owners, policy.quotas, policy.pools) == ((), (), {})
    assert policy.teams["b"] == policy.teams["a"]


def test_an_empty_selector_matches_everything() -> None:
    (rule,) = load_policy(HEAD + "owners: [{when: {}, team: shared}]\n").owners
    assert rule.when == Selector()
    assert rule.when.matches({})


def test_weights_multiply_and_exact_words_come_first() -> None:
    pool = one_pool("meter: gpu, weights: {phase: {t*: 2, tuning: 0.5, '*': 3}, qos: {high: 4}}").pools["p"]
    assert pool.weight({"phase": "tuning"}) == Fraction(1, 2)
    assert pool.weight({"phase": "training"}) == 2
    assert pool.weight({"phase": "data", "slurm.qos": "high"}) == 12
    assert pool.weight({"qos": "low"}) == 1
    assert pool.weight({}) == 1


def test_credit_for_an_outcome_that_a_facet_rule_sets() -> None:
    credit = "pools: {p: {costs: {a: b}, meter: gpu, credit: [{outcome: lost, percent: 1, paid_by: x}]}}\n"
    for outcome in ("lost", '"{outcome_label}"'):
        assert load_policy(HEAD + f"facets: [{{when: {{x: y}}, outcome: {outcome}}}]\n" + credit).pools["p"].credit


def test_currencies_have_their_minor_units() -> None:
    assert (MINOR_DIGITS["USD"], MINOR_DIGITS["JPY"], MINOR_DIGITS["KWD"], MINOR_DIGITS["CLF"]) == (2, 0, 3, 4)
    assert all(len(code) == 3 and code.isupper() for code in MINOR_DIGITS)
    for code in ("EUR", "JPY", "KWD"):
        assert load_policy(HEAD.replace("USD", code)).currency == code
