"""Faults that people make in an engine like this one, each as a change of one place in it."""

from tests.property.planting import Fault

FAULTS = (
    Fault(
        "largest remainder keeps floors only",
        "model/money.py",
        "return [quotient + (i in lucky) for i, (quotient, _) in enumerate(floors)]",
        "return [quotient for quotient, _ in floors]",
    ),
    Fault(
        "ties of the largest remainder go to the last name",
        "model/money.py",
        "order = sorted(range(len(floors)), key=lambda i: (-floors[i][1], ids[i].encode()))",
        "order = sorted(range(len(floors)), key=lambda i: (-floors[i][1], [-byte for byte in ids[i].encode()]))",
    ),
    Fault(
        "central idle is dropped",
        "engine/idle.py",
        "            account.add(system_entry(column, market.name, day, cause, market.bearers), grains)\n",
        "",
    ),
    Fault(
        "usage counts a second too little where it starts",
        "engine/demand.py",
        'values[f"{name}_part"] = signed * (calendar.cell_s - inside)',
        'values[f"{name}_part"] = signed * (calendar.cell_s - inside - (1 if sign > 0 else 0))',
    ),
    Fault(
        "weights are lost",
        "engine/weights.py",
        "share = grains * weights[load] * above // below if below else grains",
        "share = grains",
    ),
    Fault(
        "a follower is lost",
        "engine/followers.py",
        "for (bill, component, family), lines in sorted(totals.items()):",
        "for (bill, component, family), lines in sorted(totals.items())[1:]:",
    ),
    Fault(
        "followers follow the whole bill",
        "engine/followers.py",
        "charges_of(account, bill, family, bearers) or charges_of(account, bill, None, bearers)",
        "charges_of(account, bill, None, bearers)",
    ),
    Fault(
        "each resource bears all of a pool's reservations",
        "engine/price.py",
        "Fraction(rest * min(unused, whole), whole) if whole else Fraction(0)",
        "Fraction(min(unused, rest))",
    ),
    Fault(
        "unused reservations are not scaled to what is idle",
        "engine/price.py",
        "return {market.bearers.number(holder): units for holder, units in unused_reservations(market, priced, slot).items()}",
        "return {market.bearers.number(holder): over(cells, slot) for holder, cells in sorted(market.supply.reserved.items())}",
    ),
    Fault(
        "days begin at midnight UTC",
        "engine/calendar.py",
        "starts = [day_start(day, zone) for day in",
        'starts = [day_start(day, ZoneInfo("UTC")) for day in',
    ),
    Fault(
        "credits are charged",
        "engine/transfers.py",
        "back = part_of(grains, rule.percent / WHOLE)",
        "back = part_of(grains, -rule.percent / WHOLE)",
    ),
    Fault(
        "credits cover more than the last hours",
        "engine/pools.py",
        "longest = int(rule.max_hours * HOUR_S)",
        "longest = int(rule.max_hours * HOUR_S) + 1",
    ),
    Fault(
        "even idle reaches teams that used nothing",
        "engine/idle.py",
        "teams = teams or {declared(team, policy) for team in policy.teams}",
        "teams |= {declared(team, policy) for team in policy.teams}",
    ),
    Fault(
        "a flow counts where it starts only",
        "engine/demand.py",
        "cell=ibis.range(first, last + 1).unnest()",
        "cell=ibis.range(first, first + 1).unnest()",
    ),
    Fault(
        "a late line is shared by the billing period",
        "engine/price.py",
        "whole = calendar.widen(tranche.billing if inside else tranche.charge)",
        "whole = calendar.widen(tranche.billing)",
    ),
    Fault(
        "capacity that is down is not counted",
        "engine/supply.py",
        "            offered[curve].append(level)\n",
        '            offered[curve] += [level] if row["state"] == "up" else []\n',
    ),
    Fault(
        "capacity is reserved before it is down",
        "engine/price.py",
        "down = min(idle - held, over(market.supply.down.get(curve, {}), slot))",
        "down = 0",
    ),
    Fault(
        "what is finer than a nano is dropped",
        "engine/postings.py",
        "for (bill, component), grains in dust.items():",
        "for (bill, component), grains in ():",
    ),
    Fault(
        "owner rules hold for ever",
        "engine/workloads.py",
        "if not in_force(rule.from_, rule.until, interval, zone) or not rule.when.matches(labels):",
        "if not rule.when.matches(labels):",
    ),
    Fault(
        "overheads add up currencies",
        "engine/overhead.py",
        "            sums[currencies[entry.column.bill]][owner] += grains\n",
        "            for currency in set(currencies.values()):\n                sums[currency][owner] += grains\n",
    ),
    Fault(
        "what one row used makes up for what another held",
        "engine/demand.py",
        '"held": ibis.greatest(held - units, 0)',
        '"held": held - units',
    ),
    Fault(
        "demand above capacity is charged more than the bill",
        "engine/price.py",
        "units = max(offered, wanted)",
        "units = offered or wanted",
    ),
    Fault(
        "an adjustment ends the day before its last",
        "engine/transfers.py",
        "(rule.until is None or day <= rule.until)",
        "(rule.until is None or day < rule.until)",
    ),
    Fault(
        "time that a team's workloads share counts for each",
        "engine/occupancy.py",
        "(rows.start_s > rows.reached)",
        "(rows.start_s >= rows.start_s)",
    ),
    Fault(
        "a price holds before its first day",
        "engine/cards.py",
        "(price.from_ and day < price.from_)",
        "False",
    ),
    Fault(
        "a pool's own basis is ignored",
        "engine/lines.py",
        "if pool.basis and pool.basis != policy.basis:",
        "if False:",
    ),
)  # fmt: skip
