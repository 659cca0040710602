"""From the exact amount, in thirty digits, to the posted one."""

from collections.abc import Sequence
from decimal import Decimal, localcontext

import pyarrow as pa

from apportion.model.money import GRAIN_PLACES, GRAINS_PER_NANO, plain, to_grains
from apportion.model.rows import RESIDUAL
from apportion.reports.sums import total
from apportion.reports.words import counted
from apportion.verbs.explaining.story import Node

STEPS = "bill, component, pool, day, reason, cause, cost centre, department, team, project, user"


def thirty_digits(grains: int) -> str:
    with localcontext() as context:
        context.prec = 120
        return f"{Decimal(grains).scaleb(-GRAIN_PLACES):.30f}"


def rounding_nodes(rows: pa.Table, exact: Sequence[int]) -> tuple[Node, ...]:
    """Currency by currency: they are never added."""
    currencies = rows["currency"].to_pylist()
    own = {
        known: [n for n, currency in enumerate(currencies) if currency == known] for known in sorted(set(currencies))
    }
    return tuple(rounding_node(rows.take(at), [exact[n] for n in at]) for at in own.values())


def rounding_node(rows: pa.Table, exact: Sequence[int]) -> Node:
    """The sum of a selection, and the posting that rounding moved most."""
    currency = rows["currency"][0].as_py()
    posted = total(rows["amount"].to_pylist())
    moves = [to_grains(amount) - grains for amount, grains in zip(rows["amount"].to_pylist(), exact, strict=True)]
    text = f"rounding: exactly {thirty_digits(sum(exact))}, posted {plain(posted)} {currency}, in {counted(len(rows), 'posting')} of whole nanos"
    facts = {"exact": thirty_digits(sum(exact)), "posted": posted, "currency": currency, "postings": len(rows)}
    if not any(moves):
        return Node(text + "; nothing had to be rounded", facts)
    most = max(range(len(moves)), key=lambda n: (abs(moves[n]), -n))
    row = rows.slice(most, 1).to_pylist()[0]
    return Node(text, facts, (step_node(row, exact[most], moves[most]),))


def step_node(row: dict[str, object], grains: int, move: int) -> Node:
    owner = "/".join(str(row[name]) for name in ("team", "project", "user") if row[name])
    what = f"{row['day']} {row['pool'] or 'no pool'} {row['reason']} of {owner}"
    if row["team"] == RESIDUAL:
        return Node(f"{what}: what is finer than a nano of the whole bill stays here", {"exact": thirty_digits(grains)})
    way = "up" if move > 0 else "down"
    amount = row["amount"]
    text = (
        f"the largest step: {what}: exactly {thirty_digits(grains)}, posted {plain(amount) if isinstance(amount, Decimal) else amount}: rounded {way} "
        f"by {abs(move) / GRAINS_PER_NANO:.3f} nano, by largest remainder inside what its parent was given ({STEPS})"
    )
    return Node(text, {"exact": thirty_digits(grains), "posted": amount, "move": thirty_digits(move)})
