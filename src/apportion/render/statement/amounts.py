"""Sections that add up to what is owed: what it is made of, what changed it, and by each dimension."""

from collections.abc import Sequence
from dataclasses import replace

from apportion.render.figures import legible
from apportion.render.statement import words
from apportion.render.statement.page import Bar, Chart, Column, Section, Table
from apportion.reports.statement.shape import DRIVERS, Line, Part, Statement

SCALE = 1000  # the width of a chart


def lines_table(title: str, lines: Sequence[Line], statement: Statement, by: str) -> Table:
    """Amounts by name, with those of the period before where there are any."""
    digits, compared = statement.digits, any(line.before is not None for line in lines)
    shares = statement.owed > 0 and all(line.amount >= 0 for line in lines)

    def row(name: str, amount: int, before: int | None) -> tuple[str, ...]:
        cells = [name, words.figure(amount, digits)]
        cells += [words.percent(amount, statement.owed)] if shares else []
        cells += [words.optional(before, digits), words.signed(amount - (before or 0), digits)] if compared else []
        return tuple(cells)

    columns = [Column(words.titled(by), 1), Column(f"Amount {legible(statement.currency)}")]
    columns += [Column("Share")] if shares else []
    columns += [Column(words.period_before(statement.period)), Column("Change")] if compared else []
    earlier = sum(line.before or 0 for line in lines) if compared else None
    return Table(
        title,
        tuple(columns),
        tuple(row(words.named(line.name, by), line.amount, line.before) for line in lines),
        row("Total", sum(line.amount for line in lines), earlier),
    )


def summary(statement: Statement) -> list[Section]:
    if not statement.summary:
        return []
    named = tuple(replace(line, name=words.titled(line.name)) for line in statement.summary)
    table = lines_table("What it is made of", named, statement, "what")
    return [Section("Summary", tables=(table,))]


def changed(statement: Statement) -> list[Section]:
    if statement.before is None:
        return []
    earlier = words.period_before(statement.period)
    if not statement.changes:
        same = statement.owed == statement.before
        said = f"Nothing changed against {earlier}." if same else f"Why it changed against {earlier} is not known."
        return [Section("What changed, and why", (said,))]
    digits = statement.digits
    columns = (
        Column("Cause", 2),
        Column("That is", 4),
        Column("Pool", 3),
        Column(f"Amount {legible(statement.currency)}"),
    )
    rows = tuple(
        (
            words.titled(change.driver),
            words.DRIVERS.get(change.driver, ""),
            legible(change.pool) or "all pools",
            words.signed(change.amount, digits),
        )
        for change in statement.changes
    )
    total = ("Together", "", "", words.signed(statement.owed - statement.before, digits))
    moved = (
        f"From {words.in_currency(statement.before, statement)} for {earlier}"
        f" to {words.in_currency(statement.owed, statement)} for {words.period(statement.period)}."
    )
    table = Table(f"What changed against {earlier}", columns, rows, total)
    return [Section("What changed, and why", (moved,), (table,), chart(statement))]


def chart(statement: Statement) -> Chart | None:
    """One bar per cause: to the right of zero what made it more, to the left what made it less."""
    known = [*DRIVERS, *dict.fromkeys(change.driver for change in statement.changes if change.driver not in DRIVERS)]
    sums = {name: sum(change.amount for change in statement.changes if change.driver == name) for name in known}
    moved = {name: amount for name, amount in sums.items() if amount}
    if not moved:
        return None
    low, high = min(0, *moved.values()), max(0, *moved.values())

    def place(amount: int) -> int:
        return (amount - low) * SCALE // (high - low)

    bars = tuple(
        Bar(
            words.titled(name),
            place(min(0, amount)),
            max(2, place(max(0, amount)) - place(min(0, amount))),
            amount > 0,
            words.signed(amount, statement.digits),
        )
        for name, amount in moved.items()
    )
    told = "; ".join(f"{bar.name.lower()} {bar.figure}" for bar in bars)
    alt = f"Bar chart of what changed against {words.period_before(statement.period)}, in {legible(statement.currency)}: {told}."
    return Chart(alt, place(0), bars)


def parts(statement: Statement) -> list[Section]:
    return [part_section(part, statement) for part in statement.parts if part.lines]


def part_section(part: Part, statement: Statement) -> Section:
    title = f"By {legible(part.by)}"
    if not any(line.name.strip() for line in part.lines):
        return Section(title, (f"Nothing says which {legible(part.by)} it was for.",))
    return Section(title, tables=(lines_table(title, part.lines, statement, part.by),))


def children(statement: Statement) -> list[Section]:
    """Left out where a part says the same: a team's children are its projects."""
    own = {line.name: line.amount for line in statement.children}
    if not own or any({line.name: line.amount for line in part.lines} == own for part in statement.parts):
        return []
    title = "One level below"
    return [Section(title, tables=(lines_table(title, statement.children, statement, "name"),))]
