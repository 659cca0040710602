"""From the postings of a figure to its pools, prices, usage, rules and rounding."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InvariantError
from apportion.model.minor import rounding_of
from apportion.model.money import plain
from apportion.model.rows import POSTING_KEY, RECORDED
from apportion.model.times import Interval, Period, day_start
from apportion.reports.sums import total
from apportion.reports.words import counted
from apportion.verbs.agreement import short
from apportion.verbs.difference import difference
from apportion.verbs.explaining.amounts import priced
from apportion.verbs.explaining.lines import followers_node, placed_lines
from apportion.verbs.explaining.owners import owner_nodes
from apportion.verbs.explaining.pools import Scene, pool_nodes
from apportion.verbs.explaining.rounding import rounding_nodes
from apportion.verbs.explaining.story import Node
from apportion.verbs.explaining.target import Target
from apportion.verbs.explaining.usage import Whose
from apportion.verbs.minor_units import round_change
from apportion.verbs.plan import Computed

FROM = ", from "


def walked(target: Target, computed: Computed, rounded: pa.Table) -> tuple[Node, ...]:
    """From the postings of a target to prices, usage, rules and rounding. Its parts come first: pools, then what is late on the bills, by month.

    `rounded` are the postings of all parts with what rounds them; what is late is rounded by itself.
    """
    own, *_ = computed.parts
    rest, late = target.pick(rounding_of(rounded)), []
    for month, part in computed.late.items():
        its = target.pick(rounding_of(round_change(part.plan.postings, str(computed.plan.period))))
        parts, why = walked_part(target, part, its)
        if parts:
            rest = pa.concat_tables([rest, negated(its)])
            late.append(late_node(month, part, (*parts, *why)))
    parts, why = walked_part(target, own, rest)
    return (*parts, *late, *why, *rounding_nodes(*picked(target, computed)))


def negated(rows: pa.Table) -> pa.Table:
    place = RECORDED.get_field_index("amount")
    return rows.set_column(place, RECORDED.field(place), pc.negate(rows["amount"]))


def late_node(month: str, part: Computed, steps: tuple[Node, ...]) -> Node:
    lines = counted(len(part.world.cost_lines), "line")
    how = f"{FROM}{lines} of the bills, shared by the use of that month under {short(part.world.policy)}"
    return priced(f"late for {month}", steps, {"month": month}, how)


def walked_part(target: Target, computed: Computed, rounding: pa.Table) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The parts of a figure, which add up to it, and the other steps: whose it is, and which lines follow."""
    rows, _ = picked(target, computed)
    if computed.world.late and not len(rows):
        return (), ()
    whole = pa.concat_tables([rows.select(RECORDED.names).cast(RECORDED), rounding])
    scene = Scene(computed, placed_lines(computed), whole, whose(target, computed))
    follow = followers_node(scene.placed) if target.kind == "team" else ()
    return pool_nodes(scene), (*owners(target, computed, scene.whose), *follow)


def picked(target: Target, computed: Computed) -> tuple[pa.Table, list[int]]:
    """The planned postings that a target is about, with their exact amounts in grains."""
    numbered = computed.plan.postings.append_column("number", pa.array(range(len(computed.plan.postings))))
    rows = target.pick(numbered)
    return rows.drop_columns(["number"]), [computed.plan.exact[n] for n in rows["number"].to_pylist()]


def refuse_tampered(target: Target, planned: pa.Table, posted: pa.Table, period: Period) -> None:
    """The record must be what its inputs say, posting by posting."""
    moved = difference(planned, posted)
    if not len(moved):
        return
    row = moved.to_pylist()[0]
    key = ", ".join(str(row[name]) for name in POSTING_KEY if row[name] not in ("", None))
    others = f" (and {counted(len(moved) - 1, 'other posting')})" if len(moved) > 1 else ""
    here = [pc.equal(posted[name], row[name]) for name in POSTING_KEY]
    mask = here[0]
    for condition in here[1:]:
        mask = pc.and_(mask, condition)
    found = total(posted.filter(mask)["amount"].to_pylist())
    raise InvariantError(
        f"{target.name} in {period}: the record is not what its cost lines and usage say, at {key}{others}",
        plain(total([found, row["amount"]])),
        plain(found),
    )


def whose(target: Target, computed: Computed) -> Whose:
    """Whose usage to show: the team's; of a pool, everybody's; of a posting, its owner's on its day."""
    if target.kind == "pool":
        return Whose(called="everybody", everybody=True)
    if target.kind == "team":
        return Whose(teams=(target.name,), called=target.name)
    key = dict(zip(POSTING_KEY, target.key, strict=True))
    leaf = tuple(str(key[name]) for name in ("team", "project", "user"))
    zone, day = ZoneInfo(computed.world.policy.time_zone), key["day"]
    span = Interval(day_start(day, zone), day_start(day + timedelta(days=1), zone)) if isinstance(day, date) else None
    return Whose(teams=leaf[:1], called=f"{'/'.join(filter(None, leaf))} on {day}", leaf=leaf, span=span)


def owners(target: Target, computed: Computed, whose: Whose) -> tuple[Node, ...]:
    if target.kind == "pool":
        return ()
    nodes = owner_nodes(computed, whose)
    called = "/".join(filter(None, whose.leaf)) or whose.called
    return (Node(f"why it is {called}'s", {}, nodes),) if nodes else ()
