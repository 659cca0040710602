"""What would be owed by rules to come, beside what is owed: a sentence near the top, and both figures with what moves them."""

from apportion.render.figures import legible
from apportion.render.statement import words
from apportion.render.statement.page import Column, Section, Table
from apportion.reports.statement.shape import Preview, Statement

TITLE = "By rules to come"
CAUSES = {
    "volume": "other use counts as yours",
    "price": "what an hour, or the pool, costs",
    "mix": "other hours, weights or classes count",
    "direct": "other costs are yours alone",
    "idle": "another share of what nobody used",
    "policy": "another part of the pool is yours",
    "overhead": "another share of overhead",
    "adjustments": "other subsidies, caps, grants and credits",
    "late": "other shares of what was billed late",
    "corrections": "other shares of what was put right",
    "reclasses": "what was moved between owners",
    "other": "what has no other cause",
}


def told(statement: Statement) -> tuple[str, ...]:
    """One sentence, where there are rules to come."""
    made = statement.preview
    if made is None:
        return ()
    begun = f"By rules to come ({legible(made.policy)}), which are shown until {words.period(made.until)}"
    if made.owed is None:
        return (f"{begun}, it is not known what this period would come to: they cannot be applied to it.",)
    return (
        f"{begun}, it would be {words.in_currency(made.owed, statement)}, {difference(statement, made, made.owed)}",
    )


def difference(statement: Statement, made: Preview, owed: int) -> str:
    moved = owed - statement.owed
    if not moved:
        return "the same."
    share = words.percent(abs(moved), statement.owed) if statement.owed > 0 else ""
    amount = f"{words.in_currency(abs(moved), statement)}{f' ({share})' if share else ''}"
    return f"{amount} {'more' if moved > 0 else 'less'}.{words.mostly(statement, made.changes, moved)}"


def preview(statement: Statement) -> list[Section]:
    made = statement.preview
    if made is None or made.owed is None or made.charged is None:
        return []
    digits, moved = statement.digits, made.owed - statement.owed
    columns = (Column("Rules", 2), Column("Policy", 3), Column(f"Owed {legible(statement.currency)}"), Column("Booked"))
    figures = (
        (
            "In force",
            legible(statement.policy),
            *(words.figure(one, digits) for one in (statement.owed, statement.charged)),
        ),
        ("To come", legible(made.policy), *(words.figure(one, digits) for one in (made.owed, made.charged))),
    )
    total = ("Difference", "", words.signed(moved, digits), words.signed(made.charged - statement.charged, digits))
    tables = [Table(TITLE, columns, figures, total)]
    tables += [causes(statement, made, moved)] if made.changes else []
    said = "Only what is owed by the rules in force counts; nothing of the other figure is booked."
    return [Section(TITLE, (said,), tuple(tables))]


def causes(statement: Statement, made: Preview, moved: int) -> Table:
    digits = statement.digits
    columns = (
        Column("Cause", 2),
        Column("That is", 4),
        Column("Pool", 3),
        Column(f"Difference {legible(statement.currency)}"),
    )
    rows = tuple(
        (
            words.titled(change.driver),
            CAUSES.get(change.driver, ""),
            legible(change.pool) or "all pools",
            words.signed(change.amount, digits),
        )
        for change in made.changes
    )
    return Table("Why it would be another amount", columns, rows, ("Together", "", "", words.signed(moved, digits)))
