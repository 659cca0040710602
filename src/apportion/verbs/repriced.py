"""What if a pool cost more, or less? A published price is a rule, so the policy's text is changed; any other pool's price is its bill, so its cost lines are.

Every line keeps its part, to 18 places, and together they come to the new sum exactly; what follows them (taxes, credits) stays as it is.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.again import Again
from apportion.engine.backend import Backend
from apportion.engine.late import together
from apportion.engine.lines import BASIS, NO_CURRENCY, amounts_of, labelled, place_all
from apportion.engine.plan import Plan, World, make_plan
from apportion.errors import ProjectError
from apportion.model.money import ATTO, GRAINS_PER_ATTO, LARGEST, half_even, plain, to_decimal, to_grains
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.policy.edit import with_setting
from apportion.policy.load import load_policy
from apportion.reports.sums import total
from apportion.reports.words import shown
from apportion.verbs.engines import backend_of
from apportion.verbs.plan import refuse_empty
from apportion.verbs.pools import refuse_unknown
from apportion.verbs.project import Project
from apportion.verbs.resized import NewCapacity, Resized, resized
from apportion.verbs.world import Part, Pins, bill_lines, billed_periods, build_world, parts_of

WORDS = re.compile(r"(?P<percent>[+-]?\d{1,6}(\.\d{1,6})?)\s*%|(?P<amount>\d{1,15}(\.\d{1,18})?)")
HINT = "write gpus=+10%, gpus=-5% or gpus=120000"
LISTED = "rate_card"
Deed = Callable[[World], World]


@dataclass(frozen=True, slots=True)
class NewPrice:
    """So much more or less in percent, or an amount: what the pool's bill comes to, or a unit of its price list."""

    pool: str
    percent: Fraction | None = None
    amount: Decimal | None = None

    @property
    def text(self) -> str:
        if self.percent is None:
            return plain(self.amount or Decimal(0))
        return f"{'+' if self.percent >= 0 else '-'}{plain(Decimal(round(abs(self.percent) * 10**6)) / 10**6)}%"

    def of(self, old: Fraction) -> Fraction:
        return old * (100 + self.percent) / 100 if self.percent is not None else Fraction(self.amount or 0)


@dataclass(frozen=True, slots=True)
class Bills:
    """What lines of a pool come to, before and after, in the currency of its bill."""

    price: NewPrice
    currency: str
    before: Decimal
    after: Decimal

    @property
    def sentence(self) -> str:
        change = f" ({self.price.text.replace('%', ' %')})" if self.price.percent is not None else ""
        return f"the bill of {self.price.pool} is {shown(self.after, self.currency)} instead of {shown(self.before, self.currency)}{change}"


@dataclass(frozen=True, slots=True)
class Instead:
    """What holds instead: another policy, what some pools' bills and capacity come to, and how much more or less each team owed the month before."""

    policy: Policy
    bills: tuple[NewPrice, ...] = ()
    shifted: Mapping[str, Decimal] = field(default_factory=dict)
    sizes: tuple[NewCapacity, ...] = ()


def read_prices(given: Iterable[str]) -> tuple[NewPrice, ...]:
    """`gpus=+10%`, `gpus=120000`; one for each pool."""
    found: dict[str, NewPrice] = {}
    for text in given:
        pool, _, said = text.rpartition("=")
        if not pool or pool in found:
            why = f"{pool} has two prices" if pool else f"{text!r} names no pool"
            raise ProjectError("invalid-new-price", why, hint=HINT)
        found[pool] = read_price(pool, said)
    return tuple(found.values())


def read_price(pool: str, said: str) -> NewPrice:
    found = WORDS.fullmatch(said.strip())
    if found is None or (found["percent"] and Fraction(found["percent"]) < -100):
        why = f"{said!r} is neither an amount nor a change in percent"
        raise ProjectError("invalid-new-price", why, hint=HINT)
    if found["percent"]:
        return NewPrice(pool, percent=Fraction(found["percent"]))
    return NewPrice(pool, amount=Decimal(found["amount"]))


def apart(policy: Policy, prices: Iterable[NewPrice], period: Period) -> tuple[list[NewPrice], list[NewPrice]]:
    """Those that the policy publishes, and those that are bills."""
    known = list(prices)
    for price in known:
        refuse_unknown(price.pool, period, policy)
    listed = [price for price in known if policy.pools[price.pool].method == LISTED]
    return listed, [price for price in known if price not in listed]


def with_published(text: str, file: str, prices: Iterable[NewPrice]) -> str:
    """The policy with other prices in its lists; an amount needs a list of one."""
    for price in prices:
        own = load_policy(text, file).pools[price.pool].prices
        if price.amount is not None and len(own) > 1:
            raise unclear(f"the price list of {price.pool} has {len(own)} prices")
        for place, one in enumerate(own):
            value = f'"{decimal_text(price.of(one.price))}"'
            text = with_setting(text, file, ("pools", price.pool, "prices", place, "price"), value).text
    return text


def decimal_text(number: Fraction) -> str:
    """With every digit: what policies and percents say ends after finitely many places."""
    return plain(to_decimal(half_even(number.numerator * ATTO, number.denominator) * GRAINS_PER_ATTO))


@dataclass(slots=True)
class Rehearsal:
    """A month that is planned many times over, from what it rests on: what its plans have in common is read and found once."""

    project: Project
    period: Period
    pins: Pins
    backend: Backend
    again: Again
    worlds: dict[Hashable, World] = field(default_factory=dict)
    lines: pa.Table | None = None

    def plan(self, new: Instead, deed: Deed | None = None) -> tuple[Plan, tuple[Bills | Resized, ...]]:
        """As `verbs/plan.compute` makes it, of lines that cost something else. What is late on the bills stays as it is.

        `deed`: what somebody would have done otherwise. Nothing else will need that, so nothing of it is kept.
        """
        self.lines = bill_lines(self.project, self.period, self.pins) if self.lines is None else self.lines
        found = parts_of(self.project, self.period, new.policy, self.pins, self.lines)
        made, told = dict[str, Plan](), tuple[Bills | Resized, ...]()
        for month, part in found.items():
            world = self.world(part, (month, part.policy.version if month else tuple(found)))
            if not month:
                world, told = otherwise(world, new, self.backend)
            made[month] = (
                self.again.plan(world) if month or deed is None else make_plan(deed(world), backend_of(self.project))
            )
        whole = together(made.pop(""), made)
        if not whole.bills:
            refuse_empty(self.period, billed_periods(self.project, self.pins))
        return whole, told

    def world(self, part: Part, lines: Hashable) -> World:
        """Most policies read the same evidence."""
        policy = part.policy
        read = (policy.time_zone, policy.currency, str(policy.fx), str(policy.decides), policy.smooths)
        if (lines, read) not in self.worlds:
            self.worlds[lines, read] = build_world(self.project, self.period, part, self.pins, self.backend)
        return replace(self.worlds[lines, read], policy=policy)


def rehearsal(project: Project, period: Period, pins: Pins) -> Rehearsal:
    backend = backend_of(project)
    return Rehearsal(project, period, pins, backend, Again(backend))


def planned_at(project: Project, period: Period, new: Instead, pins: Pins) -> tuple[Plan, tuple[Bills | Resized, ...]]:
    """The plan of a month as it would be, once."""
    return rehearsal(project, period, pins).plan(new)


def otherwise(world: World, new: Instead, backend: Backend) -> tuple[World, tuple[Bills | Resized, ...]]:
    """Capacity comes first: a price that is an amount is what the bill comes to after all."""
    world, sizes = resized(shifted(world, new.shifted), new.sizes, backend)
    grown = [NewPrice(one.size.pool, percent=(one.factor - 1) * 100) for one in sizes if not one.size.same]
    world, bills = repriced(world, (*grown, *new.bills))
    return world, (*sizes, *bills)


def shifted(world: World, by: Mapping[str, Decimal]) -> World:
    """Rules that smooth look at the month before, which would have been another, too."""
    moved = {team: total((world.previous.get(team, Decimal(0)), change)) for team, change in by.items() if change}
    return replace(world, previous={**world.previous, **moved})


def repriced(world: World, prices: Iterable[NewPrice]) -> tuple[World, tuple[Bills, ...]]:
    lines, policy = world.cost_lines.combine_chunks(), world.policy
    told: list[Bills] = []
    for price in prices:
        placed = place_all(lines, labelled(lines, policy), policy)
        mine = pa.array(placed.inside([price.pool]))
        old = lines.filter(mine)
        amounts = amounts_of(lines, placed, policy)[0].filter(mine)
        currency = currency_of(old, price, world.period)
        new = scaled(amounts.to_pylist(), old["line_id"].to_pylist(), price)
        column = BASIS[policy.pools[price.pool].basis or policy.basis]
        kind = lines.schema.field(column).type
        values = pc.replace_with_mask(lines[column].combine_chunks(), mine, pa.array(new, kind))
        lines = lines.set_column(lines.schema.get_field_index(column), lines.schema.field(column), values)
        told.append(Bills(price, currency, total(amounts.to_pylist()), total(new)))
    return replace(world, cost_lines=lines), tuple(told)


def currency_of(lines: pa.Table, price: NewPrice, period: Period) -> str:
    found = sorted(set(pc.coalesce(lines["BillingCurrency"], NO_CURRENCY).to_pylist()))
    if not found:
        raise ProjectError(
            "no-bill-to-change",
            f"no cost line of {period} falls to {price.pool}",
            hint="ask about the pool that has the bill; `apportion report pools` lists what each shares",
        )
    if len(found) > 1 and price.amount is not None:
        raise unclear(f"the bills of {price.pool} are in {' and '.join(found)}")
    return " and ".join(found)


def scaled(amounts: list[Decimal], ids: list[str], price: NewPrice) -> list[Decimal]:
    """Each line's part of the new sum. Running sums are rounded, in the order of the lines' names, so that the parts add up to it."""
    attos = [to_grains(amount) // GRAINS_PER_ATTO for amount in amounts]
    whole = Fraction(sum(attos), ATTO)
    if price.amount is not None and not whole:
        raise unclear(f"the lines of {price.pool} come to nothing")
    factor = price.of(whole) / whole if whole else price.of(Fraction(1))
    if abs(whole * factor) >= LARGEST:
        raise ProjectError("invalid-new-price", f"{price.text} is more than the books can hold", hint=HINT)
    new, at, done = [Decimal(0)] * len(attos), 0, 0
    for place in sorted(range(len(ids)), key=ids.__getitem__):
        at += attos[place]
        upto = half_even(at * factor.numerator, factor.denominator)
        new[place], done = to_decimal((upto - done) * GRAINS_PER_ATTO), upto
    return new


def unclear(why: str) -> ProjectError:
    return ProjectError(
        "unclear-new-price", f"{why}: an amount does not say what each would be", hint="give a change in percent"
    )
