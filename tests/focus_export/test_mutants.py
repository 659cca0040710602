"""A sound export breaks no rule, and every broken one breaks the rule that it was broken against."""

import copy
import json
from collections.abc import Callable
from decimal import Decimal

import pytest

from tests.focus_export.rules import KEY, PRICES, RULES, Export, Row, broken


def change(**cells: str) -> Callable[[Export], None]:
    """Of one row that has more beside it, in the split alone."""

    def mutate(export: Export) -> None:
        shared(export).update(cells)

    return mutate


def shared(export: Export) -> Row:
    """An owner's part of the month's own usage, one of several that are not alike."""
    return next(
        row
        for rows in export.groups.values()
        for row in rows
        if len({one["EffectiveCost"] for one in rows}) > 1
        and row["AllocatedMethodDetails"]
        and row["AllocatedResourceId"]
        if row["ChargeCategory"] == "Usage" and not row["ChargeClass"]
    )


def both(**cells: str) -> Callable[[Export], None]:
    """Of an origin and all its rows: nothing differs between them."""

    def mutate(export: Export) -> None:
        key = shared(export)[KEY]
        for row in (*export.groups[key], *(one for one in export.origins if one[KEY] == key)):
            row.update(cells)

    return mutate


def add(column: str, amount: str) -> Callable[[Export], None]:
    def mutate(export: Export) -> None:
        row = shared(export)
        row[column] = format(Decimal(row[column]) + Decimal(amount), "f")

    return mutate


def swap_costs(export: Export) -> None:
    """The sum stays; each has the other's."""
    first = shared(export)
    second = next(row for row in export.groups[first[KEY]] if row["EffectiveCost"] != first["EffectiveCost"])
    for name in ("EffectiveCost", "PricingCurrencyEffectiveCost"):
        first[name], second[name] = second[name], first[name]


def cost_moves_to_another_day(export: Export) -> None:
    """Rows, origins and their sums still agree with each other."""
    row = shared(export)
    for one in (row, next(one for one in export.origins if one[KEY] == row[KEY])):
        for name in ("EffectiveCost", "PricingCurrencyEffectiveCost"):
            one[name] = format(Decimal(one[name]) + Decimal("0.000000000000000001"), "f")


def drop(export: Export) -> None:
    export.rows.remove(shared(export))


def drop_whole_split(export: Export) -> None:
    key = shared(export)[KEY]
    export.rows[:] = [row for row in export.rows if row[KEY] != key]
    export.origins[:] = [row for row in export.origins if row[KEY] != key]


def twice(export: Export) -> None:
    export.rows.append(dict(shared(export)))


def origin_among_rows(export: Export) -> None:
    export.rows.append(dict(export.origins[0]))


def detail(**said: object) -> Callable[[Export], None]:
    return change(AllocatedMethodDetails=json.dumps({"Elements": [{"AllocatedRatio": 0.5, **said}]}))


def negative_prices(export: Export) -> None:
    key = shared(export)[KEY]
    for row in (*export.groups[key], *(one for one in export.origins if one[KEY] == key)):
        row.update({name: "-" + row[name] for name in PRICES})
        row["PricingQuantity"] = row["ConsumedQuantity"] = format(-Decimal(row["PricingQuantity"]), "f")


def correction(cell: str, text: str) -> Callable[[Export], None]:
    def mutate(export: Export) -> None:
        row = next(row for row in export.rows if row["ChargeClass"])
        row[cell] = text

    return mutate


def periods(**cells: str) -> Callable[[Export], None]:
    return lambda export: export.periods[0].update(cells)


MUTANTS: dict[str, tuple[str, Callable[[Export], None]]] = {
    "an atto too much": ("sums_to_origin", add("EffectiveCost", "0.000000000000000001")),
    "billed too much": ("sums_to_origin", add("BilledCost", "0.000000000001")),
    "listed too much": ("sums_to_origin", add("ListCost", "0.000000000001")),
    "a quantity too large": ("sums_to_origin", add("PricingQuantity", "0.000000000000001")),
    "a row is missing": ("sums_to_origin", drop),
    "a row stands twice": ("no_row_twice", twice),
    "origin and split are both counted": ("comes_to_the_ledger", origin_among_rows),
    "a split and its origin are missing": ("comes_to_the_ledger", drop_whole_split),
    "an atto that the ledger does not have": ("comes_to_the_ledger", cost_moves_to_another_day),
    "an origin that nobody knows": ("every_row_has_an_origin", change(**{KEY: "nowhere"})),
    "another currency than the origin": ("says_what_its_origin_says", change(BillingCurrency="GBP")),
    "another day than the origin": ("says_what_its_origin_says", change(ChargePeriodEnd="2026-10-31T00:00:00Z")),
    "another price than the origin": ("says_what_its_origin_says", change(ListUnitPrice="1")),
    "tags that the origin lacks": ("says_what_its_origin_says", change(Tags='{"a":"b"}')),
    "ratios that do not come to 1": ("ratios", change(AllocatedMethodDetails='{"Elements":[{"AllocatedRatio":0.1}]}')),
    "a ratio above 1": ("ratios", detail(AllocatedRatio=1.5)),
    "a ratio below 0": ("ratios", detail(AllocatedRatio=-0.5)),
    "an unknown key beside the ratio": ("ratios", detail(Foo=1)),
    "a quantity without a unit": ("ratios", detail(UsageQuantity=1)),
    "details that are no JSON": ("ratios", change(AllocatedMethodDetails="{")),
    "one row of a split without details": ("ratios", change(AllocatedMethodDetails="")),
    "ratios of other rows": ("ratios", swap_costs),
    "no method on a split row": ("split_columns", change(AllocatedMethodId="")),
    "an owner's part that is nobody's": ("split_columns", change(AllocatedResourceId="", AllocatedResourceName="", AllocatedTags="")),
    "an id without a name": ("split_columns", change(AllocatedResourceName="")),
    "nobody's part with an owner": ("split_columns", change(x_TeamName="_idle")),
    "tags that repeat the vendor's": ("tags", both(Tags='{"apportion:team":"x"}')),
    "tags without our prefix": ("tags", change(AllocatedTags='{"team":"vision"}')),
    "tags of another owner": ("tags", change(AllocatedTags='{"apportion:team":"nobody"}')),
    "tags that are no JSON": ("tags", change(AllocatedTags="team=vision")),
    "an end before the start": ("times", both(ChargePeriodEnd="2026-09-30T22:00:00Z")),
    "a charge before its billing period": ("times", both(ChargePeriodStart="2026-09-01T00:00:00Z")),
    "a time of another form": ("times", both(ChargePeriodStart="2026-10-05 00:00:00")),
    "a time with an offset": ("times", both(ChargePeriodStart="2026-10-05T00:00:00+02:00")),
    "a correction without its class": ("classes", correction("ChargeClass", "")),
    "a correction of the future": ("classes", correction("x_CorrectedPeriod", "2027-01")),
    "a class where nothing is corrected": ("classes", both(ChargeClass="Correction")),
    "an unknown category": ("classes", both(ChargeCategory="Transfer")),
    "a transfer that consumes": ("classes", both(ChargeCategory="Adjustment")),
    "a cost that is not price times quantity": ("prices", both(ListUnitPrice="1")),
    "a negative price": ("prices", negative_prices),
    "a cost with more places": ("filled", add("BilledCost", "0.0000000000001")),
    "a cost with an exponent": ("filled", change(EffectiveCost="1E-9")),
    "no cost": ("filled", change(BilledCost="")),
    "no account": ("filled", both(BillingAccountId="")),
    "an unknown status": ("billing_period", periods(BillingPeriodStatus="In review")),
    "changed before it was made": ("billing_period", periods(BillingPeriodCreated="2999-01-01T00:00:00Z")),
    "another month than the charges": ("billing_period", periods(BillingPeriodStart="2026-09-01T00:00:00Z")),
}  # fmt: skip


def test_a_sound_export_breaks_no_rule(export: Export) -> None:
    assert broken(export) == {}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_export_breaks_its_rule(export: Export, name: str) -> None:
    rule, mutate = MUTANTS[name]
    mutant = Export(
        copy.deepcopy(export.rows), copy.deepcopy(export.origins), copy.deepcopy(export.periods), export.ledger
    )
    mutate(mutant)
    found = sorted(broken(Export(mutant.rows, mutant.origins, mutant.periods, mutant.ledger)))
    assert rule in found


def test_every_rule_has_a_mutant() -> None:
    assert {rule for rule, _ in MUTANTS.values()} == set(RULES)
