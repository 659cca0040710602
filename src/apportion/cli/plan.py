"""`apportion plan`."""

from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import OK, PENDING, Answer, Call, verb

if TYPE_CHECKING:
    from apportion.engine.bursts import Burst
    from apportion.render.sheet import Sheet
    from apportion.verbs.plan import Planned

FEW = 5


def plan(
    call: Call,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit 3 if the plan would change what is posted.")
    ] = False,
) -> Answer:
    """Show what would be posted; changes nothing.

    Owner by owner against what is posted, with the equation bill = owners + idle + unallocated + residual. Without a month it also says which
    closed ones wait for a correction.
    """
    from apportion.render.sheet import Sheet
    from apportion.verbs.plan import plan as compute
    from apportion.verbs.waiting import waiting
    from apportion.verbs.world import known_periods, pins_of

    project = call.project()
    months = call.months(known_periods(project, pins_of(project)))
    made = [compute(project, period, step=call.bar) for period in months]
    code = PENDING if exit_code and any(one.pending for one in made) else OK
    talk = tuple(
        f"Next: apportion {call.flag}explain TEAM --period {one.period}   |   apportion {call.flag}apply --period {one.period}"
        for one in made
        if one.pending
    )
    if call.period is None:
        late = [one for one in waiting(project, call.bar) if one.period not in {str(month) for month in months}]
        talk += tuple(f"{one.text} Next: {one.fix(call.flag)}" for one in late)
        code = PENDING if exit_code and late else code
    sheets = [plan_sheet(one) for one in made]
    if len(sheets) == 1:
        return Answer(sheets[0], talk, code)
    tables = tuple(table for sheet in sheets for table in sheet.tables)
    notes = tuple(note for sheet in sheets for note in sheet.notes)
    return Answer(
        Sheet("\n".join(sheet.title for sheet in sheets), tables, {"plans": [sheet.value for sheet in sheets]}, notes),
        talk,
        code,
    )


def plan_sheet(made: "Planned") -> "Sheet":
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column

    columns = (
        Column("sign", ""),
        Column("owner", "owner"),
        Column("before", "posted", "money"),
        Column("after", "planned", "money"),
        Column("change", "change", "money"),
        Column("why", "mostly"),
    )
    tables = tuple(
        Table(
            columns,
            tuple(
                (row.sign, row.owner, row.before, row.after, row.change, row.why)
                for row in made.rows
                if row.currency == currency and row.sign != " "
            ),
            currency=currency,
            heading=f"{made.period} in {currency}",
        )
        for currency in dict.fromkeys(row.currency for row in made.rows)
    )
    was = f" (was {made.was})" if made.was and made.was != made.policy else ""
    title = f"Plan for {made.period} under {made.policy}{was}, {made.basis}          + added  ~ changed  - removed"
    return Sheet(title, tables, plan_value(made), notes_of(made))


def plan_value(made: "Planned") -> dict[str, object]:
    """The contract: `digest`, `engine`, `equation`, `rows`, `bills` (with their conversion), `problems`.

    `sampled`: how shares were estimated; `bursts`: use above reservations.
    """
    return {
        "period": made.period,
        "policy": made.policy,
        "was": made.was,
        "basis": made.basis,
        "digest": made.digest,
        "engine": made.plan.engine._asdict(),
        "head": made.head,
        "tally": made.tally,
        "pending": made.pending,
        "equation": made.equation,
        "rows": made.rows,
        "bills": made.bills,
        "problems": made.problems,
        "sampled": made.sampled,
        "bursts": [burst_value(burst) for burst in made.bursts],
    }


def burst_value(burst: "Burst") -> dict[str, object]:
    """`for_others` is what of the team's charge pays for nodes that only other teams' bursts used."""
    from apportion.model.money import for_reading

    return {
        "pool": burst.pool,
        "team": burst.team,
        "unit_hours": for_reading(burst.unit_hours),
        "slots": burst.slots,
        "for_others": {currency: for_reading(amount) for currency, amount in burst.for_others.items()},
    }


def burst_notes(made: "Planned") -> list[str]:
    from apportion.model.money import for_reading
    from apportion.reports.words import shown

    return [
        f"bursts: {shown(for_reading(amount), currency)} of {burst.team}'s charge in {burst.pool} pays for nodes that only other teams' bursts used"
        for burst in made.bursts
        for currency, amount in burst.for_others.items()
    ]


def notes_of(made: "Planned") -> tuple[str, ...]:
    from apportion.reports.equation import by_currency
    from apportion.reports.words import counted
    from apportion.verbs.plan import conversion_text

    converted = [f"converted: {conversion_text(bill, bill.conversion)}" for bill in made.bills if bill.conversion]
    problems = [f"problem: {problem.where}: {problem.message} [{problem.code}]" for problem in made.problems[:FEW]]
    more = [f"... and {len(made.problems) - FEW} more problems: -o json has all"] if len(made.problems) > FEW else []
    bills = [one.sentence() for one in made.equation] if len(made.equation) > 1 else []
    sums = (
        [one.sentence() for one in by_currency(made.equation)] if bills else [one.sentence() for one in made.equation]
    )
    engine = made.plan.engine
    cluster = "" if engine.stages is None else f"   {engine.name} {engine.version}, {counted(engine.stages, 'stage')}"
    return (
        "\n".join((*bills, *sums)),
        made.tally,
        *converted,
        *burst_notes(made),
        *problems,
        *more,
        f"digest {made.digest}{cluster}",
    )


def add_to(app: typer.Typer) -> None:
    verb(app, "plan", engine=True, period=True)(plan)
