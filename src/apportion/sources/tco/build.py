"""From what is written in the inventory to streams of money and the fleet of nodes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any

from apportion.errors import InputError
from apportion.model.currencies import CARBON
from apportion.sources.tco.amortise import Life, Upgrade, amortised
from apportion.sources.tco.clauses import part_of
from apportion.sources.tco.contracts import WORDS, Contract, owed, per_unit
from apportion.sources.tco.days import ONE_DAY, Span, after_months
from apportion.sources.tco.document import KINDS, Asset, Borne, Hardware, Inventory, Lease, Software, Staff, Term
from apportion.sources.tco.fleet import Fleet, Stay, fleet_of, matched
from apportion.sources.tco.items import TIMES, amount_text, number_text
from apportion.sources.tco.streams import Sharing, Stream
from apportion.sources.tco.written import Path, Written

ONE = Fraction(1)
GRAMS = 1000  # in a kilogram
FOREVER = date.max
CONTRACTS = {
    "leases": ("Lease", ""),
    "maintenance": ("Maintenance", "support"),
    "staff": ("Staff", "support"),
    "software": ("Software", "licence"),
    "other": ("", "other"),
}


@dataclass(frozen=True, slots=True)
class Context:
    """What all streams need: the currency unless they say, the last day that matters, and the places of mistakes."""

    currency: str
    horizon: date
    written: Written

    def refuse(self, message: str, path: Path, hint: str) -> InputError:
        return InputError("inventory-order", message, where=self.written.where(path), hint=hint)


def fleet_in(inventory: Inventory) -> Fleet:
    return fleet_of([*asset_stays(inventory), *lease_stays(inventory)])


def asset_stays(inventory: Inventory) -> Iterator[Stay]:
    """From its first day of service to its disposal, where it stands by name."""
    for asset in inventory.assets:
        end = asset.disposed or FOREVER
        stops = [
            (asset.serves_from, named(asset)),
            *((move.on, (move.node,) if move.node else ()) for move in asset.moves),
        ]
        for (start, nodes), (stop, _) in pairwise([*stops, (end, ())]):
            yield from stays(asset, nodes, Span(start, stop))


def lease_stays(inventory: Inventory) -> Iterator[Stay]:
    for lease in inventory.leases:
        yield from stays(lease, named(lease), Span(lease.from_, after(lease)))


def stays(hardware: Hardware, nodes: tuple[str, ...], span: Span) -> Iterator[Stay]:
    if span.days:
        for node in nodes:
            yield Stay(node, span, hardware.gpus_each * hardware.count, hardware.sockets * hardware.count)


def named(borne: Borne) -> tuple[str, ...]:
    return (borne.node,) if borne.node else borne.nodes


def after(term: Term) -> date:
    return term.until + ONE_DAY if term.until else FOREVER


def streams(inventory: Inventory, fleet: Fleet, context: Context) -> Iterator[Stream]:
    for number, asset in enumerate(inventory.assets):
        found = list(of_asset(asset, context, ("assets", number)))
        yield from (*found, *of_making(asset, found))
    for key in CONTRACTS:
        for one in getattr(inventory, key):
            yield from of_contract(key, one, fleet, context)


def of_asset(asset: Asset, context: Context, path: Path) -> Iterator[Stream]:
    life = life_of(asset, context, path)
    spreads, events = amortised(life)
    how = "straight line" if life.rate is None else "declining"
    for node, label in bearers(asset):
        start = asset.serves_from
        moves = tuple(Sharing(move.on, {move.node: ONE} if move.node else move.shared_by) for move in asset.moves)
        yield Stream(
            asset.id, f"Amortisation of {label}, {how}", "Amortisation", asset.component or KINDS[asset.kind],
            asset.currency or context.currency, (Sharing(start, node), *moves), spreads, events,
            name=asset.name or asset.id, kind=asset.kind, tags=asset.all_tags,
        )  # fmt: skip


def of_making(asset: Asset, streams: Iterable[Stream]) -> Iterator[Stream]:
    """What it emitted when it was made, in grams: as its money is, in a straight line, and shared by whatever shares that."""
    if not asset.embodied_kg:
        return
    grams = asset.embodied_kg * GRAMS * asset.count
    spreads, events = amortised(
        Life(grams, Fraction(0), asset.bought, asset.serves_from, asset.life_months, disposed=asset.disposed)
    )
    for stream in streams:
        what = stream.what.replace("Amortisation of ", "Embodied carbon in grams of ", 1).removesuffix(", declining")
        made = replace(stream, what=what, currency=CARBON, spreads=spreads, as_used=True)
        yield replace(made, events=tuple(event for event in events if event.cost))


def bearers(borne: Borne) -> Iterator[tuple[dict[str, Fraction], str]]:
    """Who bears it, and what to call it; each of several nodes bears one of its own. An asset of no node is a resource itself."""
    label = borne.name or borne.id
    if borne.nodes:
        for node in borne.nodes:
            yield {node: ONE}, f"{label} ({node})"
    elif borne.node or borne.shared_by:
        yield ({borne.node: ONE} if borne.node else borne.shared_by), label
    else:
        yield ({borne.id: ONE} if isinstance(borne, Hardware) else {}), label


def life_of(asset: Asset, context: Context, path: Path) -> Life:
    """All pieces together."""
    price, months, cost = asset.price, asset.life_months, asset.price
    upgrades = []
    for number, one in enumerate(asset.upgrades):
        where = (*path, "upgrades", number)
        months += one.extends_months
        replaced = part_of(one.replaces, cost)
        if replaced > cost:
            raise context.refuse("more is replaced than there is", (*where, "replaces"), f"at most {amount_text(cost)}")
        if after_months(asset.serves_from, months) <= one.on:
            hint = "extends_months must reach beyond it"
            raise context.refuse(f"the life is over by {one.on}", (*where, "on"), hint)
        cost += one.price - replaced
        salvage = None if one.salvage is None else part_of(one.salvage, one.price) * asset.count
        upgrades.append(
            Upgrade(
                one.on,
                one.price * asset.count,
                replaced * asset.count,
                one.proceeds * asset.count,
                one.extends_months,
                salvage,
            )
        )
    return Life(
        price * asset.count, part_of(asset.salvage, price) * asset.count, asset.bought, asset.serves_from, asset.life_months,
        asset.yearly, asset.switch, tuple(upgrades), asset.disposed, asset.proceeds * asset.count,
    )  # fmt: skip


def of_contract(key: str, one: Any, fleet: Fleet, context: Context) -> Iterator[Stream]:
    service, component = CONTRACTS[key]
    kind = one.kind if isinstance(one, Lease) else ""
    contract = contract_of(key, one)

    def stream(weights: dict[str, Fraction], label: str, **more: Any) -> Stream:
        spreads, events = more.pop("parts", None) or owed(contract, context.horizon)
        return Stream(
            one.id, f"{service or one.service} {label}", service or one.service, one.component or component or KINDS[kind],
            one.currency or context.currency, (Sharing(one.from_, weights),), spreads, events,
            name=one.name or one.id, kind=kind or service.lower(), tags=one.all_tags, **more,
        )  # fmt: skip

    if isinstance(one, Software) and one.per:
        for node in counted_nodes(one, fleet):
            parts = per_unit(contract, one.per, fleet.counts(node, one.per), context.horizon), ()
            unit = f"{WORDS[one.per].capitalize() if one.per != 'gpu' else 'GPU'}-Days"
            yield stream({node: ONE}, one.name or one.id, parts=parts, unit=unit, as_used=True)
        return
    for weights, label in bearers(one):
        yield stream(weights, label)


def counted_nodes(software: Software, fleet: Fleet) -> list[str]:
    """Those of the fleet that it counts: all, unless it names some."""
    if not software.nodes:
        return list(fleet.stays)
    wanted = {name for name, _ in matched(dict.fromkeys(software.nodes, ONE), tuple(fleet.stays))}
    return [node for node in fleet.stays if node in wanted]


def contract_of(key: str, one: Any) -> Contract:
    end = one.until + ONE_DAY if one.until else None
    if isinstance(one, Staff):
        amount = one.fte * one.annual_cost * one.share / 100 / 12
        share = f" {TIMES} {number_text(one.share)} %" if one.share != 100 else ""
        how = f"{number_text(one.fte)} FTE {TIMES} {amount_text(one.annual_cost)} a year{share} / 12 = {amount_text(amount)}"
        return Contract(amount, "month", one.from_, end, how=how)
    if isinstance(one, Lease):
        many = one.count
        how = f"{many} {TIMES} {amount_text(one.price)}" if many > 1 else ""
        return Contract(one.price * many, one.every, one.from_, end, one.up_front * many, one.deposit * many, how)
    every = "once" if key == "maintenance" else one.every
    return Contract(one.price, every, one.from_, end)
