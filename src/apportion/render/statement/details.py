"""Sections behind the amounts: workloads, use, budgets, who pays for whom, what was put right, the rules, and how to dispute it."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from apportion.render.figures import legible
from apportion.render.statement import words
from apportion.render.statement.page import Column, Section, Table
from apportion.reports.statement.shape import Rule, Statement, Use, Workload

HOW = "How it was computed"
OTHER_HOURS = "Beside it stands what is owed in the pool for other hours than these: late lines, corrections, what was credited or moved."


def workloads(statement: Statement) -> list[Section]:
    if not statement.workloads:
        return []
    owned = any(work.project or work.user for work in statement.workloads)
    columns = [
        Column("Workload", 3),
        *([Column("Project, user", 2)] if owned else []),
        Column("Held h"),
        Column("Used h"),
        Column(f"Amount {legible(statement.currency)}"),
        Column("Waste"),
    ]
    total = [
        "Total",
        *([""] if owned else []),
        "",
        "",
        words.figure(sum(w.amount for w in statement.workloads), statement.digits),
        "",
    ]
    rows = tuple(workload_row(work, statement.digits, owned) for work in statement.workloads)
    table = Table("Workloads that cost most", tuple(columns), rows, tuple(total))
    return [Section("Workloads that cost most", tables=(table,))]


def workload_row(work: Workload, digits: int, owned: bool) -> tuple[str, ...]:
    name, own = legible(work.name), legible(work.workload)
    first = f"{name}\n{own}" if name and own and name != own else name or own or "(no name)"
    whose = "\n".join(legible(text) for text in (work.project, work.user) if text)
    held = f"{words.hours(work.held)} {legible(work.unit)}".strip() if work.held else ""
    used = words.hours(work.used) if work.used is not None else "not measured" if work.held else ""
    figures = (held, used, words.figure(work.amount, digits), words.optional(work.waste, digits))
    return (first, *([whose] if owned else []), *figures)


def usage(statement: Statement) -> list[Section]:
    if not statement.usage:
        return []
    blind = any(Fraction(use.unmeasured or 0) for use in statement.usage)
    others = [use.other_hours for use in {use.pool: use for use in statement.usage}.values() if use.other_hours]
    columns = (
        Column("Pool", 1),
        Column("Held h"),
        Column("Used h"),
        Column("Utilisation"),
        *([Column("Not measured h")] if blind else []),
        Column(f"Amount {legible(statement.currency)}"),
        Column("Waste"),
        *([Column("For other hours")] if others else []),
    )
    pools = {use.pool: use for use in statement.usage}  # amounts are of the pool, whatever units it has
    wasted = [use.waste for use in pools.values() if use.waste is not None]
    amount = words.figure(sum(use.amount for use in pools.values()), statement.digits)
    waste = words.figure(sum(wasted), statement.digits) if wasted else ""
    rows = tuple(use_row(use, statement.digits, blind=blind, others=bool(others)) for use in statement.usage)
    sums = (amount, waste, *([words.figure(sum(others), statement.digits)] if others else []))
    table = Table("Held against used", columns, rows, ("Total", *[""] * (len(columns) - len(sums) - 1), *sums))
    said = (wasted_sentence(statement, wasted), *([OTHER_HOURS] if others else []))
    return [Section("Held against used", said, (table,))]


def use_row(use: Use, digits: int, *, blind: bool, others: bool) -> tuple[str, ...]:
    return (
        f"{words.named(use.pool, 'pool')}\n{legible(use.unit)}".rstrip("\n"),
        words.hours(use.held),
        words.hours(use.used) if use.used is not None else "not measured",
        words.utilisation(use.held, use.used, use.unmeasured),
        *([words.hours(use.unmeasured)] if blind else []),
        words.figure(use.amount, digits),
        words.optional(use.waste, digits),
        *([words.optional(use.other_hours, digits)] if others else []),
    )


def wasted_sentence(statement: Statement, wasted: Sequence[int]) -> str:
    if not wasted:
        return "Nothing was measured: how much of what was held was used, and what the rest cost, is not known."
    said = f"What was held and not used cost {words.in_currency(sum(wasted), statement)}; it is part of the amounts."
    blind = any(use.used is None for use in statement.usage)
    return said + (" Where nothing was measured, nothing is said of waste." if blind else "")


def budgets(statement: Statement) -> list[Section]:
    if not statement.budgets:
        return []
    digits = statement.digits
    columns = (
        Column("Budget", 1),
        Column(f"Agreed {legible(statement.currency)}"),
        Column("Spent"),
        Column("Left"),
        Column("Spent of it"),
    )
    rows = tuple(
        (
            f"Per {legible(budget.per)}\n{f'pool {legible(budget.pool)}' if budget.pool else 'all pools'}",
            words.figure(budget.amount, digits),
            words.figure(budget.spent, digits),
            words.figure(budget.left, digits),
            words.percent(budget.spent, budget.amount),
        )
        for budget in statement.budgets
    )
    over = [budget for budget in statement.budgets if budget.left < 0]
    said = tuple(
        f"The budget per {legible(budget.per)}{f' of pool {legible(budget.pool)}' if budget.pool else ''}"
        f" is exceeded by {words.in_currency(-budget.left, statement)}."
        for budget in over
    )
    return [Section("Budgets", said, (Table("Budgets", columns, rows),))]


def adjustments(statement: Statement) -> list[Section]:
    if not statement.adjustments:
        return []
    columns = (Column("Who", 2), Column("Why", 3), Column("Until"), Column(f"Amount {legible(statement.currency)}"))
    sides = {"received": "Paid by", "given": "Paid for"}
    rows = tuple(
        (
            f"{sides.get(one.side, words.titled(one.side))} {words.named(one.other)}\n{f'pool {legible(one.pool)}' if one.pool else 'all pools'}",
            f"{legible(one.why)}\n{f'approved by {legible(one.approver)}' if one.approver else ''}".rstrip("\n"),
            legible(one.until) or "no end",
            words.signed(one.amount, statement.digits),
        )
        for one in statement.adjustments
    )
    total = ("Together", "", "", words.signed(sum(one.amount for one in statement.adjustments), statement.digits))
    said = "They are part of the amount above: less than zero is paid by somebody else, more than zero is paid for somebody else."
    return [Section("Adjustments, and who sponsors them", (said,), (Table("Adjustments", columns, rows, total),))]


def moves(statement: Statement) -> list[Section]:
    if not statement.moves:
        return []
    columns = (Column("Who", 2), Column("Why", 4), Column(f"Amount {legible(statement.currency)}"))
    sides = {"in": "From", "out": "To"}
    rows = tuple(
        (
            f"{sides.get(one.side, words.titled(one.side))} {words.named(one.other)}\n{f'pool {legible(one.pool)}' if one.pool else 'all pools'}",
            f"{legible(one.why)}\n{f'approved by {legible(one.approver)}' if one.approver else ''}".rstrip("\n"),
            words.signed(one.amount, statement.digits),
        )
        for one in statement.moves
    )
    total = ("Together", "", words.signed(sum(one.amount for one in statement.moves), statement.digits))
    said = "It stood with another owner and was moved, for good; nobody pays it for another. It is part of the amount above."
    return [Section("Moved between owners", (said,), (Table("Moved between owners", columns, rows, total),))]


def corrections(statement: Statement) -> list[Section]:
    if not statement.corrections:
        return []
    digits = statement.digits
    columns = (
        Column("Of", 2),
        Column("Cause", 3),
        Column("Was"),
        Column("Is now"),
        Column(f"Amount {legible(statement.currency)}"),
    )
    rows = tuple(
        (
            words.period(one.about),
            f"{legible(one.cause)}\nruns {words.listed([legible(run) for run in one.runs])}",
            words.figure(one.was, digits),
            words.figure(one.now, digits),
            words.signed(one.amount, digits),
        )
        for one in statement.corrections
    )
    total = ("Together", "", "", "", words.signed(sum(one.amount for one in statement.corrections), digits))
    said = "Earlier periods are closed and stay as they were; what is different now is booked in this one."
    return [Section("Corrections of earlier periods", (said,), (Table("Corrections", columns, rows, total),))]


def quantities(statement: Statement) -> list[Section]:
    if not statement.quantities:
        return []
    rows = tuple(
        (words.QUANTITIES.get(unit, legible(unit)), f"{words.grouped(amount)} {legible(unit)}")
        for unit, amount in statement.quantities
    )
    table = Table("Beside money", (Column("What", 1), Column("Amount")), rows)
    return [Section("Beside money", tables=(table,))]


def accepted(statement: Statement) -> list[Section]:
    """What the figures rest on although it could not be taken as it is."""
    if not statement.accepted:
        return []
    return [Section("Accepted findings", tuple(f"Accepted finding: {legible(one.text)}" for one in statement.accepted))]


def how(statement: Statement) -> list[Section]:
    if not statement.how:
        return []
    columns = (Column("Pool", 2), Column("Rule, and the policy's own words", 8))
    rows = tuple((legible(rule.pool) or "all pools", "\n".join(said(rule))) for rule in statement.how)
    return [Section(HOW, tables=(Table("Rules", columns, rows),))]


def said(rule: Rule) -> Iterator[str]:
    """The sentence, then the clause line by line, each as deep as it is written."""
    yield rule_sentence(rule)
    for line in rule.clause.splitlines():
        text = line.lstrip(" ")
        yield "\u00a0" * (len(line) - len(text)) + legible(text)


def rule_sentence(rule: Rule) -> str:
    place = f" Line {rule.line} of the policy:" if rule.line else ""
    return words.titled(rule.sentence.removeprefix(f"{rule.pool}: ")) + place


def dispute(statement: Statement) -> list[Section]:
    lines = tuple(legible(line.strip()) for line in statement.dispute.splitlines() if line.strip())
    return [Section("How to dispute it", lines)] if lines else []
