"""From a statement to its page.

A later layout has another `template`, with words and sections of its own: what was printed once prints the same for ever.
"""

from collections.abc import Callable, Iterable

from apportion.errors import require_equal
from apportion.render.figures import legible
from apportion.render.statement import amounts, details, preview, words
from apportion.render.statement.page import Page, Section
from apportion.reports.statement.shape import Statement

SECTIONS: tuple[Callable[[Statement], list[Section]], ...] = (
    amounts.summary,
    amounts.changed,
    preview.preview,
    amounts.parts,
    amounts.children,
    details.workloads,
    details.usage,
    details.budgets,
    details.adjustments,
    details.moves,
    details.corrections,
    details.quantities,
    details.accepted,
    details.how,
    details.dispute,
)


def page_of(statement: Statement) -> Page:
    check_sums(statement)
    owner, when = words.named(statement.owner), words.period(statement.period)
    found = (make(statement) for make in SECTIONS)
    return Page(
        title=f"{'Credit' if statement.owed < 0 else 'Statement'}: {words.whose(statement)}, {when}",
        issuer=legible(statement.issuer),
        level=words.level(statement.level),
        owner=owner,
        period=when,
        number=legible(statement.number),
        stamp=words.stamp(statement),
        headline=words.headline(statement),
        figure=words.figure(statement.owed, statement.digits),
        currency=legible(statement.currency),
        against=against(statement),
        sentences=(
            words.sentence(statement),
            *words.carries(statement),
            *words.booking(statement),
            *preview.told(statement),
        ),
        facts=facts(statement),
        sections=tuple(section for several in found for section in several),
        footer=(("Ledger head", legible(statement.head)), ("Policy", legible(statement.policy)), *footer(statement)),
    )


def footer(statement: Statement) -> tuple[tuple[str, str], ...]:
    """The version of rules to come, in full: what was computed by them can be computed again."""
    made = statement.preview
    return (("Policy to come", legible(f"{made.policy} {made.version}".strip())),) if made else ()


def check_sums(statement: Statement) -> None:
    """What does not add up is not printed."""
    sums: list[tuple[str, int, Iterable[int]]] = [
        (f"what is owed by {part.by}", statement.owed, (line.amount for line in part.lines)) for part in statement.parts
    ]
    if statement.summary:
        sums.append(("the summary of what is owed", statement.owed, (line.amount for line in statement.summary)))
    if statement.children:
        sums.append(("what the children owe", statement.owed, (line.amount for line in statement.children)))
    if statement.changes:
        moved = statement.owed - (statement.before or 0)
        sums.append(("what changed", moved, (change.amount for change in statement.changes)))
    if statement.preview is not None and statement.preview.owed is not None:
        moved = statement.preview.owed - statement.owed
        sums.append(("what rules to come change", moved, (change.amount for change in statement.preview.changes)))
    for what, whole, found in sums:
        require_equal(f"{what} ({statement.owner}, {statement.period})", whole, sum(found))


def against(statement: Statement) -> tuple[str, ...]:
    """The figure of the period before, and by how much this one differs."""
    if statement.before is None:
        return ()
    moved = statement.owed - statement.before
    share = words.percent(moved, statement.before) if statement.before > 0 else ""
    plus = "+" if moved > 0 and share else ""
    return (
        words.period_before(statement.period),
        words.figure(statement.before, statement.digits),
        words.signed(moved, statement.digits) + (f" ({plus}{share})" if share else ""),
    )


def facts(statement: Statement) -> tuple[tuple[str, str], ...]:
    booked = "" if words.is_shown_only(statement) else words.in_currency(statement.charged, statement)
    found = (
        ("Number", legible(statement.number) or unnumbered(statement)),
        ("Period", words.period(statement.period)),
        ("Issued", legible(statement.issued) or "not yet"),
        ("Mode", legible(statement.mode)),
        ("Would be booked" if statement.is_draft else "Booked", booked),
        ("Amounts are", legible(statement.basis)),
    )
    return tuple((name, value) for name, value in found if value)


def unnumbered(statement: Statement) -> str:
    """Numbers are those of the teams' statements; what is booked at another level stands there."""
    return "none" if statement.is_draft or words.is_shown_only(statement) else "on the team's statement"
