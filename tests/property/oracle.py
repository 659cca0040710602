"""An independent, naive engine: exact fractions, plain loops, nothing of apportion.engine.

Readings of the specification, where it leaves a choice:
Lines and time
 R1  A null basis column falls back to EffectiveCost, then BilledCost, then 0. A posting has the component of the line's
     pool where that states one, else the line's own.
 R2  Lines with a problem and lines of no pool: `_unallocated`, reason usage, pool "", spread over their charge period's days.
     Only Usage lines have a problem in the generated worlds.
 R3  Hour slots are 3600 s counted from local midnight, the last of a day short where the day's length needs it (Lord Howe), not cells of 1800 s.
     Cells (1800 s there) only widen a late line's own slot; the cell of a zero-length charge period is the one that holds its start.
 R4  Every line is shared by itself in its own slots: demand and capacity of a slot do not depend on the line, so pool, bill and component add up.
 R5  Money that nobody's usage carries (no demand, idle) lies on the days of the line's own seconds in the slot, in proportion to them.
Usage, capacity, owners
 R6  Owner rules with dates are looked up for each local day of a usage interval, of a reservation and of a directly owned line.
 R7  Owner rules see a workload's labels, outcome and name. A workload is an id and a set of
     labels: a usage row belongs to what is said of its id with its own set; without one to what is said of the id without a set, else to
     all that is said of it (first source, then its latest set). A workload without a row has no labels. A facet is set by the first rule that matches.
 R8  A resource is a cluster and a name, in usage, capacity, scope and boards, and has them as labels `cluster` and `node`. Where no cluster is
     stated: the one named cluster that has that name, else the default one, which has no label. A line whose id fits nodes of several
     clusters in its pool is tied to none. Without `usage`, a name that the pool's lines name is meant in every cluster.
     Capacity is matched by the pool's `usage` with no workload labels at all: a selector on workload labels has no capacity.
     A scheduler's reservation is matched with its own labels; without `usage`, its label node or resource is one that the pool's lines name.
 R9  Zero-length usage counts nothing, for flows too. Under `time` a row counts whatever its amount, 0 included; the unowned are one team.
     A row counts by what it states: what it used stands for what it does not say that it held, and the other way round. Neither: 0.
 R10 Scope resource: a line counts on the node that its ResourceId (else ResourceName) names, and stays there whoever used it: one of the pool's
     own resources, else any that a row of usage or capacity names, else what the pool's `usage` would match by name alone. Other ids, and
     lines without one, count on the whole pool. Its own are the known resources on which it would count capacity or the usage of some
     workload: with a selector on workload labels, all.
     Reservations are the whole pool's: in a resource's slot the part of its idle (after held and down) that is reserved is the part of the
     pool's idle (after held and down) that is reserved; holders by their unused reservations in the pool.
 R11 Weights look a key up as `usage` does (the resource's labels if any resource carries it). All weighted charges 0: left unweighted.
     Of each bill and component, what owners are charged by one weight and what they are refunded (net, over the month) is re-shared apart.
Idle
 R12 held = sum over usage rows of max(0, allocated - driven), posted to the rows' owners (team, project, user) in proportion to their own sums.
     Unused reservations are posted to the team alone. Holders that nobody owns are `_unallocated`.
 R13 Neither capacity nor demand: idle of cause unsold, which then goes by the rule of unsold.
 R14 Reason idle always carries the cause of the idle, also on teams and on `_unallocated`.
 R15 proportional: by owners' weighted usage charges of the same bill and component; only owners whose net has the sign of the sum count; sum 0: `_idle`.
     even: over the teams with units in the pool on the days that the plan looks at (R29), in hours with money or without, at team level;
     none: `_idle`.
 R16 idle_slot day or hour: idle, charges and users of the same day or slot; never finer than `slot`.
Price lists
 R17 Usage inside the planned month (policy's zone) counts. Charges against lines of several bills and components are split by the sizes of
     their totals (evenly where all are 0), and inside one over its accounts and services likewise. Only those in the policy's currency:
     others recover nothing, and where all lines are in others nobody is charged.
     Residual after weights. `free` counts all usage of the pool in the month;
     owners without that name, and `_unallocated`, have none; a user is the same in all teams.
Overheads and followers
 R18 by cost: totals of all bills of the same currency. What is moved from an owner keeps bill, component, day and line group; pool is the overhead's, cause "".
     Only owners whose total has the sign of the sum of all totals count. Nobody to share over, in a currency (sum 0): what would be moved from an
     owner stays with it; lines are `_unallocated`, reason overhead, cause "no demand".
 R19 A line with an AllocatedMethodId is its recipient's: a pool with method direct claims it whatever its category, and it follows nothing there.
     Followers: charges are summed per (pool, day, reason, cause, owner) over components before signs are compared; what a holder lent is taken
     off its unused reservations of that pool and day. `recovery` is not followed.
     Nothing to follow: `_unallocated`, reason usage, pool "", on the follower's own days. Followers come after overheads and are not in their weights.
Credits and adjustments
 R20 Credits reach the unowned too; the cause of credit and subsidy is the rule's outcome, of free amounts and their subsidy "free".
     Credits count the usage charge of each interval's last max_hours, without followers, idle and free amounts.
 R21 Percentages never touch system owners. `when` sees amounts of matching workloads: usage, their credits, free amounts and earlier percentages on them.
     cause "" on adjustment and subsidy. Order: all percentages as listed, then smooth, cap and floor as listed.
 R22 Team totals are those of the same reasons, in the policy's currency, on the days in force. What they change by is shared over the
     sums of bill, component, pool, day and owner in proportion to their sizes, whatever the sign, of those that count (R24). A team without
     any is bounded too: at team level, with pool "", by the sums of all owners per bill, component and day.
     Where there is no money either, nothing moves. No `previous`: no smoothing.
 R23 `carried_by` moves nothing in a plan.
 R24 Idle, overheads, followers and bounds are shared by charges, or sums of them, of at least 0.618 x 10^-18 of a unit: less counts as 0.
Methods of peaks
 R25 The money of a line's billing period (its own charge period, where it is late) goes to the hours or days of it by their worth, there by units;
     or to teams (the unowned are one) by their worth, inside a team by units of the whole period, on the days of the use. What is above the
     highest demand (the sum of own peaks, for noncoincident_peak) in the slot of highest capacity is idle, unsold, on the days of the money;
     not with time_of_use. Where nothing is worth anything: as money without demand.
Reservations
 R26 burst: what of a holder's use (units by the driver, whole pool, the price's slot) is above its reservation there; all charged methods but
     time, rate_card and those of teams. A team that holds none in the pool, on any day
     that the plan looks at (R29), never bursts, except under two_part, where it holds 0.
 R27 two_part: unused reservations and credits lie on the days of the money, at team level; idle is down, then unsold. A burst price is what a
     unit costs over all of the slot's bills in the policy's currency, by their money there; other currencies, and slots whose money is
     not positive, charge bursts at cost. Overheads and followers see costs after lending.
Several measures
 R28 resource_weighted: a slot's money goes to the meters that have capacity or demand there, by their weights, and each is shared by capacity_rate
     with its own capacity, held, down and reservations. energy_two_part: static_share of the money by what was allocated of the levels, the rest by
     the flows, each as proportional. dominant_share: by teams' largest weight x units / max(capacity, demand) over the meters, inside a team by
     its use of that meter; meters that tie count equally. No idle there.
Shared boards
 R29 A resource is shared where a row that the pool counts, on the days of the month and of its lines' charge and billing periods, holds a part of a
     GPU. What the pool's rows ask of its GPUs in a cell (R3) beyond what is stated there, in whatever state and whatever `usage` says of it, does
     not count: used units (by the driver) count to what there is, in proportion, what was held without use to what they leave, and what was
     allocated (which unused reservations see) to what there is. Nothing stated: no bound. `time` counts seconds and has none. What a workload
     of another pool asks of the board does not matter.
"""

from fractions import Fraction

from tests.property.oracle_facts import Facts
from tests.property.oracle_methods import Entry, spread
from tests.property.oracle_parts import Parted
from tests.property.oracle_rounding import Key, rest_of, round_tree
from tests.property.oracle_settle import adjust, by_cost, credits_of, follow, free, reweigh, share_idle
from tests.property.oracle_time import Breakpoints, Clock, EverySecond
from tests.property.worlds import World

__all__ = ["Breakpoints", "EverySecond", "Key", "attribute", "rest_of", "round_tree"]


def attribute(world: World, clock: Clock | None = None) -> dict[Key, Fraction]:
    """Exact amounts per posting key, before rounding; keys that come to 0 are left out."""
    facts = Facts(world, clock or Breakpoints())
    exact: dict[Key, Fraction] = {}
    for entry in ledger_of(facts):
        key: Key = (
            entry.bill, entry.currency, entry.component, entry.pool, entry.day, entry.reason, entry.cause, *entry.who,
        )  # fmt: skip
        exact[key] = exact.get(key, Fraction(0)) + entry.amount
    return {key: amount for key, amount in exact.items() if amount}


def ledger_of(facts: Facts) -> list[Entry]:
    ledger = nobodys(facts)
    sharings = [Parted(facts, name, pool) for name, pool in facts.policy.pools.items() if pool.method != "by_cost"]
    for sharing in sharings:
        sharing.run()
        reweigh(sharing)
        if sharing.pool.method == "rate_card":
            sharing.recover()
        ledger += sharing.entries + share_idle(sharing)
    for name, pool in facts.policy.pools.items():
        if pool.method == "by_cost":
            ledger += by_cost(facts, name, pool, ledger)
    settled = list(ledger)
    for line in facts.lines:
        if line.follower and line.amount:
            ledger += follow(facts, line, settled)
    for sharing in sharings:
        ledger += free(sharing) + credits_of(sharing)
    adjust(facts, ledger)
    return ledger


def nobodys(facts: Facts) -> list[Entry]:
    """Lines with a problem and lines of no pool."""
    found = []
    for line in facts.lines:
        if line.pool is None and not line.follower and line.amount:
            cause = "problem" if line.row["problem"] else "no pool"
            found += [blank_day(part, cause) for part in spread(facts, line, line.span)]
    return found


def blank_day(part: Entry, cause: str) -> Entry:
    return Entry(
        part.bill, part.currency, part.component, "", part.day, "usage", cause, part.who, part.amount, part.group
    )  # fmt: skip
