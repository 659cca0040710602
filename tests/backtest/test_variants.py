"""Other capacity, idle rules, methods and departments: each against sums made in plain Python, and all of them in one pass."""

from collections import defaultdict
from fractions import Fraction

import pytest

import apportion
from apportion.errors import ApportionError
from apportion.reports.backtest import Row, Variant
from apportion.verbs.backtest import Wanted
from apportion.verbs.draft import policy_text, setting_edit
from apportion.verbs.project import Project
from apportion.verbs.supposed import Changes, Variation, read_variation
from tests.backtest.test_backtest import adds_up, posted

MONTH = "2026-10"
NEAR = Fraction(1, 10**6)
GPUS = 31 * (Fraction("384.37") + Fraction("399.99"))


def tried(project: Project, **changes: str) -> Variant:
    wanted = Wanted(changes=Changes(**{kind: (text,) for kind, text in changes.items()}))
    (variant,) = apportion.backtest(project, MONTH, wanted).variants
    assert adds_up((*variant.owners, *variant.months, *variant.pools, *variant.departments))
    return variant


def changes_of(rows: tuple[Row, ...], cause: str) -> dict[str, Fraction]:
    return {row.owner: Fraction(row.causes.get(cause, 0)) for row in rows if row.pool == "gpus"}


def test_more_capacity_that_is_paid_for_stands_idle(small: Project) -> None:
    variant = tried(small, capacity="gpus=+10%")
    gpus = [row for row in variant.pools if row.pool == "gpus"]
    assert sum(Fraction(row.change) for row in gpus) == GPUS / 10
    used = [
        amount
        for cause in ("price", "volume", "mix", "weight", "rule")
        for amount in changes_of(variant.pools, cause).values()
    ]
    assert all(abs(amount) < NEAR for amount in used)
    idle = sum(changes_of(variant.pools, "idle").values())
    assert abs(idle - GPUS / 10) < NEAR
    assert variant.bills[0] == f"{MONTH}: gpus has 17.6 instead of 16 GPU on average (+10.0 %); its bill grows alike"
    assert variant.bills[1].startswith(f"{MONTH}: the bill of gpus is ")
    assert variant.policy == "as it is"


def test_less_capacity_at_the_same_bill_makes_units_dearer(small: Project) -> None:
    variant = tried(small, capacity="gpus=-20% at the same bill")
    gpus = {row.owner: row for row in variant.pools if row.pool == "gpus"}
    assert sum(Fraction(row.change) for row in gpus.values()) == 0
    use = {key[0]: amount for key, amount in used(small).items()}
    for owner in ("vision", "zebra"):
        assert abs(Fraction(gpus[owner].causes["price"]) - use[owner] / 4) < NEAR  # 1 / 0.8 of what it was
    assert Fraction(gpus["_idle"].change) < 0
    assert "its bill stays the same" in variant.bills[0]
    assert len(variant.bills) == 1


def used(project: Project) -> dict[tuple[str, ...], Fraction]:
    sums: dict[tuple[str, ...], Fraction] = defaultdict(Fraction)
    for row in project.books.believed(MONTH).to_pylist():
        if (row["pool"], row["reason"]) == ("gpus", "usage"):
            sums[row["team"],] += Fraction(row["amount"])
    return sums


def beside(project: Project, *variants: Variation) -> tuple[Variant, ...]:
    return apportion.backtest(project, MONTH, Wanted(variants=variants)).variants


def test_units_on_average_are_the_percent_that_they_are(small: Project) -> None:
    units, percent = (Variation(size, changes=Changes(capacity=(f"gpus={size}",))) for size in ("32", "+100%"))
    one, two = beside(small, units, percent)
    assert one.owners == two.owners


def test_flags_are_the_policy_that_says_the_same(small: Project) -> None:
    wishes = {"idle": "proportional", "method": "coincident_peak"}
    texts = [setting_edit(small, [(("pools", "gpus", kind), value)]).text for kind, value in wishes.items()]
    flags = [Variation(kind, changes=Changes(**{kind: (f"gpus={value}",)})) for kind, value in wishes.items()]
    made = beside(small, *flags, *(Variation(f"text {n}", text) for n, text in enumerate(texts)))
    for flagged, same in zip(made[:2], made[2:], strict=True):
        assert (flagged.owners, flagged.clauses, flagged.policy) == (same.owners, same.clauses, same.policy)
        assert flagged.clauses
    assert adds_up(made[1].pools)
    assert any(changes_of(made[1].pools, "rule").values())


def test_another_weight_is_a_weight(small: Project) -> None:
    heavier = policy_text(small).replace(
        "    meter: gpu\n", '    meter: gpu\n    weights: {slurm.account: {"vis-*": 2}}\n'
    )
    (variant,) = apportion.backtest(small, MONTH, Wanted({"heavy": heavier})).variants
    gpus = {row.owner: row for row in variant.pools if row.pool == "gpus"}
    assert adds_up(variant.pools)
    assert gpus["vision"].causes["weight"] > 0 > gpus["zebra"].causes["weight"]
    assert not any("mix" in row.causes or "rule" in row.causes for row in gpus.values())


def test_a_team_takes_what_it_owes_to_its_department(small: Project) -> None:
    variant = tried(small, move="vision=stripes")
    past = posted(small, MONTH, "department", "team")
    vision, zebra = past["research", "vision"], past["stripes", "zebra"]
    rows = {row.owner: row for row in variant.departments}
    assert (Fraction(rows["stripes"].posted), Fraction(rows["stripes"].instead)) == (zebra, zebra + vision)
    assert Fraction(rows["research"].causes["move"]) == -vision
    assert not [row for row in variant.owners if row.change]
    assert sum(Fraction(row.change) for row in variant.departments) == 0


def test_variants_in_one_pass_are_each_alone(small: Project) -> None:
    texts = [
        "lean: capacity gpus=-20%; idle gpus=proportional",
        "dear: price disks=+10%; move vision=stripes",
        "even: method disks=even",
    ]
    variants = [read_variation(small, text) for text in texts]
    together = beside(small, *variants)
    for one, made in list(zip(variants, together, strict=True))[:2]:
        assert beside(small, one) == (made,)
    assert [made.name for made in together] == ["lean", "dear", "even"]


@pytest.mark.parametrize(
    ("kind", "text", "code", "said"),
    [
        ("capacity", "gpu=+10%", "unknown-figure", "'gpu' is no pool"),
        ("capacity", "gpus=10%", "invalid-new-capacity", "neither a number of units nor a change in percent"),
        ("capacity", "gpus=-100%", "invalid-new-capacity", "neither"),
        ("capacity", "gpus=0", "invalid-new-capacity", "shares nothing"),
        ("capacity", "gpus=many", "invalid-new-capacity", "'many'"),
        ("capacity", "=+10%", "invalid-new-capacity", "names no pool"),
        ("capacity", "disks=+10%", "no-capacity-to-change", "nobody says how much capacity disks had"),
        ("idle", "gpu=even", "unknown-figure", "'gpu' is no pool"),
        ("idle", "gpus=", "invalid-change", "which idle of which pool"),
        ("idle", "gpus=lavish", "policy-value", "found 'lavish'"),
        ("idle", "gpus=even\npools: x", "invalid-change", "is no idle rule"),
        ("method", "gpus=magic", "policy-value", "no method 'magic'"),
        ("method", "disks=fixed", "policy-missing-key", "needs shares"),
        ("move", "vison=stripes", "unknown-team", "'vison' is no team"),
        ("move", "vision", "invalid-change", "whose department"),
    ],
)
def test_what_cannot_be_is_told(small: Project, kind: str, text: str, code: str, said: str) -> None:
    state = small.books.state()
    with pytest.raises(ApportionError) as told:
        tried(small, **{kind: text})
    assert told.value.code == code
    assert said in told.value.message
    assert told.value.hint
    assert small.books.state() == state


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lean", "says nothing"),
        (": idle gpus=even", "no name"),
        ("lean: idel gpus=even", "'idel gpus=even' of variant lean"),
        ("lean: draft x", "no change"),
    ],
)
def test_a_variant_says_what_it_changes(small: Project, text: str, said: str) -> None:
    with pytest.raises(ApportionError) as told:
        read_variation(small, text)
    assert told.value.code == "invalid-change"
    assert said in told.value.message


def test_two_variants_need_two_names(small: Project) -> None:
    with pytest.raises(ApportionError, match="two variants are called a"):
        apportion.backtest(small, MONTH, Wanted(variants=[Variation("a", policy_text(small))] * 2))
