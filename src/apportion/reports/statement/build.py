"""Statements out of facts: every section of one is a sum of the same rows, so each adds up to what is owed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from apportion.model.currencies import MINOR_DIGITS, QUANTITIES, is_money
from apportion.model.money import plain
from apportion.reports.groups import NOBODY
from apportion.reports.statement.beside import Beside, beside, changed, preview
from apportion.reports.statement.facts import FACETS, KEYS, Facts
from apportion.reports.statement.lists import minor, uses, workloads
from apportion.reports.statement.shape import (
    LEVELS,
    TEMPLATE,
    AcceptedFinding,
    Adjustment,
    Correction,
    Line,
    Move,
    Part,
    Rule,
    Statement,
    Use,
    Workload,
    money,
)
from apportion.reports.statement.sums import Key, Sums, added, single, where
from apportion.reports.sums import ZERO

PARTS = ("component", "pool", "bill", "project", "user")
TRANSFERS = ("adjustment", "subsidy", "credit")
NO_WORKLOAD = "(of no workload)"
ON_TOP = "; a cap bounds own charges, this comes on top"
SUMMARY = {
    "usage": "use",
    "burst": "use above what is reserved",
    "idle": "idle cost",
    "overhead": "overhead",
    "credit": "credits",
    "adjustment": "adjustments",
    "subsidy": "paid for others",
    "rounding": "rounding",
    "recovery": "recovery",
}
OF_KIND = {
    "correction": "corrections of earlier months",
    "credit": "one-off credits",
    "reclass": "moved between owners",
}
OF_SYSTEM = {
    "_idle": "idle, carried for all",
    "_unallocated": "owned by nobody, carried for all",
    "_residual": "residual, carried for all",
}
LABELS = (*SUMMARY.values(), *OF_KIND.values(), *OF_SYSTEM.values())


@dataclass(frozen=True, slots=True)
class Sections:
    """Everything that the statements of a level say, by owner."""

    owed: Sums
    before: Sums | None
    charged: Sums
    carried: Sums
    summary: Sums
    summary_before: Sums
    parts: Mapping[str, Sums]
    parts_before: Mapping[str, Sums]
    faceted: Sums
    children: Mapping[str, Sums]
    changes: Sums
    transfers: Sums
    moved: Sums
    corrections: Sums
    was: Sums
    uses: Mapping[Key, list[Use]]
    workloads: Mapping[Key, list[Workload]]
    coming: Beside


def statements(facts: Facts, level: str) -> Iterator[Statement]:
    """One per owner and currency of money at a level, in the order of their names; those without a figure have none."""
    made = sections(facts, level)
    for key in sorted(key for key in {*made.owed, *made.carried, *made.coming.keys} if is_money(key[0])):
        yield statement(facts, made, level, key)


def sections(facts: Facts, level: str) -> Sections:
    now, before = facts.now, facts.before if facts.before is not None else facts.now.slice(0, 0)
    owed = added(now, level)
    dims = [by for by in PARTS if by not in KEYS[level]]
    return Sections(
        owed=owed,
        before=None if facts.before is None else added(before, level),
        charged=added(where(now, charged=True), level),
        carried=added(facts.carried, level),
        summary=added(now, level, ["kind", "of", "reason"]),
        summary_before=added(before, level, ["kind", "of", "reason"]),
        parts={by: added(now, level, [by]) for by in dims},
        parts_before={by: added(before, level, [by]) for by in dims},
        faceted=added(facts.faceted, level, ["facet", "value"]),
        children={below: added(now, level, [below]) for below in below_of(level)},
        changes=added(facts.changes, level, ["driver", "pool"]),
        transfers=added(transferred(now), level, ["reason", "cause", "pool", "run"]),
        moved=added(where(now, kind="reclass"), level, ["pool", "run"]),
        corrections=added(where(now, kind="correction"), level, ["run"]),
        was=added(facts.was, level, ["run"]),
        uses=uses(facts, level),
        workloads=workloads(facts, level, {key: single(owed, key) for key in owed}),
        coming=beside(facts, level),
    )


def below_of(level: str) -> tuple[str, ...]:
    return LEVELS[LEVELS.index(level) + 1 :] if level != "user" else ("team",)


def transferred(now: pa.Table) -> pa.Table:
    """By the policy's rules, or because people decided so."""
    return pa.concat_tables([where(now, reason=TRANSFERS, kind=""), where(now, kind="credit")])


def statement(facts: Facts, made: Sections, level: str, key: Key) -> Statement:
    words, owed, carried = facts.words, single(made.owed, key), single(made.carried, key)
    charged = single(made.charged, key) + carried
    booked = key in made.charged or key in made.carried
    return Statement(
        template=TEMPLATE,
        number="",
        period=words.period,
        level=level,
        owner="/".join(key[1:]),
        mode="chargeback" if booked else "showback",
        currency=key[0],
        digits=MINOR_DIGITS[key[0]],
        issuer=words.issuer,
        issued=words.issued,
        head=words.head,
        policy=words.policy,
        basis=words.basis,
        owed=owed,
        charged=charged,
        carried=carried,
        before=None if made.before is None else single(made.before, key),
        summary=summary(made, key),
        changes=() if made.before is None else changed(made.changes, key),
        parts=tuple(parts(made, key, owed)),
        children=children(made, level, key),
        workloads=tuple(made.workloads.get(key, ())),
        usage=tuple(made.uses.get(key, ())),
        budgets=facts.budgets.get((level, "/".join(key[1:])), ()) if key[0] == words.currency else (),
        adjustments=adjustments(facts, made, key),
        corrections=corrections(facts, made, key),
        quantities=quantities(made, key),
        how=rules(facts, made, key),
        dispute=words.dispute.replace("{owner}", "/".join(key[1:])).replace("{period}", words.period),
        preview=preview(facts, made.coming, key),
        accepted=accepted(facts, made, key),
        moves=moves(facts, made, key),
    )


def summary(made: Sections, key: Key) -> tuple[Line, ...]:
    now, before = labelled(made.summary, key), labelled(made.summary_before, key)
    names = [name for name in LABELS if now.get(name) or before.get(name)]
    return tuple(Line(name, now.get(name, 0), past(made, before, name)) for name in names)


def labelled(sums: Sums, key: Key) -> dict[str, int]:
    found: dict[str, int] = {}
    for (kind, of, reason), amount in sums.get(key, {}).items():
        name = OF_KIND.get(kind) or OF_SYSTEM.get(of) or SUMMARY[reason]
        found[name] = found.get(name, 0) + int(amount)
    return found


def past(made: Sections, before: Mapping[str, int], name: str) -> int | None:
    return None if made.before is None else before.get(name, 0)


def parts(made: Sections, key: Key, owed: int) -> Iterator[Part]:
    """Dimensions and facets that tell something apart."""
    for by, sums in made.parts.items():
        compared = made.before is not None and by != "bill"  # a bill is of one month: there is nothing before it
        now, before = sums.get(key, {}), made.parts_before[by].get(key, {}) if compared else {}
        names = {name for (name,) in (*now, *before)}
        if names - {""}:
            yield Part(by, lines(flat(now, names), flat(before, names), known=compared))
    found = made.faceted.get(key, {})
    for facet in FACETS:
        amounts = {value: int(amount) for (name, value), amount in found.items() if name == facet}
        if set(amounts) - {""}:
            rest = owed - sum(amounts.values())
            yield Part(facet, lines(amounts | ({NO_WORKLOAD: rest} if rest else {}), {}, known=False))


def flat(sums: Mapping[tuple[str, ...], int], names: set[str]) -> dict[str, int]:
    return {name: int(sums.get((name,), 0)) for name in names}


def lines(now: Mapping[str, int], before: Mapping[str, int], *, known: bool) -> tuple[Line, ...]:
    """The largest first, and what has no name last."""
    some = [name for name in now if now[name] or before.get(name)]
    order = sorted(some, key=lambda name: (name in ("", NO_WORKLOAD), -abs(now[name]), name))
    return tuple(Line(name or NOBODY, now[name], before.get(name, 0) if known else None) for name in order)


def children(made: Sections, level: str, key: Key) -> tuple[Line, ...]:
    """By the next level that has names."""
    for below in below_of(level):
        found = {name: int(amount) for (name,), amount in made.children[below].get(key, {}).items()}
        if set(found) - {""}:
            return lines(found, {}, known=False)
    return ()


def adjustments(facts: Facts, made: Sections, key: Key) -> tuple[Adjustment, ...]:
    found = []
    for (reason, cause, pool, run), amount in made.transfers.get(key, {}).items():
        said = facts.sponsor(pool, cause, run)
        given = reason == "subsidy"
        other = (said.receiver or facts.receivers.get((pool, cause, run), "")) if given else said.sponsor
        side = "given" if given else "received"
        why = (said.why or cause) + (ON_TOP if given and said.is_capped else "")
        found.append(Adjustment(side, other, pool, int(amount), why, said.approver, said.until))
    order = sorted(found, key=lambda one: (one.side, -abs(one.amount), one.why, one.pool, one.other))
    return tuple(one for one in order if one.amount)


def moves(facts: Facts, made: Sections, key: Key) -> tuple[Move, ...] | None:
    """None where nothing was moved, as on earlier statements."""
    found = []
    for (pool, run), amount in made.moved.get(key, {}).items():
        said = facts.sponsor(pool, "", run)
        side, other = ("in", said.receiver) if amount > 0 else ("out", said.sponsor)
        found.append(Move(side, other, pool, int(amount), said.why, said.approver))
    order = sorted(found, key=lambda one: (one.side, -abs(one.amount), one.why, one.pool, one.other))
    return tuple(one for one in order if one.amount) or None


def corrections(facts: Facts, made: Sections, key: Key) -> tuple[Correction, ...]:
    found = []
    for (run,), amount in made.corrections.get(key, {}).items():
        ran, was = facts.runs[run], minor(made.was.get(key, {}).get((run,), ZERO), key[0])
        found.append(Correction(ran.about, ran.cause, was, was + int(amount), int(amount), (ran.before, run)))
    return tuple(sorted((one for one in found if one.amount), key=lambda one: (one.about, one.runs)))


def quantities(made: Sections, key: Key) -> tuple[tuple[str, str], ...]:
    """What is no money, of the same owner."""
    found = {unit: single(made.owed, (unit, *key[1:])) for unit in QUANTITIES if (unit, *key[1:]) in made.owed}
    return tuple((unit, plain(money(amount, QUANTITIES[unit]))) for unit, amount in sorted(found.items()))


def accepted(facts: Facts, made: Sections, key: Key) -> tuple[AcceptedFinding, ...] | None:
    """Those that concern a pool which the owner owes something to; None where there are none, as on earlier statements."""
    own = {pool for (pool,), amount in made.parts["pool"].get(key, {}).items() if amount}
    return tuple(finding for pools, finding in facts.accepted if pools & own) or None


def rules(facts: Facts, made: Sections, key: Key) -> tuple[Rule, ...]:
    pools = {pool for (pool,) in made.parts["pool"].get(key, {})}
    return tuple(rule for pool, rule in sorted(facts.rules.items()) if pool in pools or not pool)
