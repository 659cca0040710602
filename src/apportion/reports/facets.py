"""How much of the money has each facet, and how sure that is; or the money by the values of one facet. Nothing is left out: what is not set has a row."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal

from apportion.model.facets import KNOWN, SURENESS
from apportion.reports.report import Cell, Column, Record, Report, Section
from apportion.reports.sums import less, section, share_of, total
from apportion.reports.words import counted, percent, shown
from apportion.reports.worked import NO_WORKLOAD, NOT_SET, Charge, Worked, money

COVERED = (
    Column("facet", "facet"),
    Column("values", "values", "count"),
    Column("runs", "runs", "count"),
    Column("run_share", "of runs", "share"),
    Column("amount", "amount", "price"),
    Column("share", "of money", "share"),
    *(Column(sure, sure, "share", quiet=True) for sure in SURENESS),
    Column("not_set", "not set", "price"),
)  # amounts of one whole, told in many ways: they do not add up, and are not shown as if they did
VALUES = (
    Column("runs", "runs", "count"),
    Column("amount", "amount", "money"),
    Column("share", "share", "share"),
    *(Column(sure, sure, "money", quiet=True) for sure in SURENESS),
)
WHERE_FROM = {
    "stated": "stated",
    "tracked": "known to a tracker",
    "derived": "derived from what ran and where",
    "guessed": "guessed from names",
}


def coverage_of_facets(record: Record, works: Sequence[Worked]) -> Report:
    """A row for each facet."""
    period = record.period
    sections, sentences, notes = [], [], []
    for worked in works:
        rows = [covered(facet, worked) for facet in KNOWN]
        made = section(worked.currency, worked.posted, COVERED, rows)
        sections.append(Section(made.currency, made.bill, made.rows, ()))
        sentences.append(coverage_sentence(period, worked, rows))
        notes += [sure_sentence(row, worked.currency) for row in rows if row["amount"]]
        rest = less(worked.posted, worked.charged)
        notes += (
            [f"{shown(rest, worked.currency)} that was posted is of no workload: idle, overhead and the like."]
            if rest
            else []
        )
    title = " ".join(sentences) or f"No work was charged in {period}."
    return Report("facets", title, period, COVERED, tuple(sections), record.head, record.policies, tuple(notes))


def covered(facet: str, worked: Worked) -> dict[str, Cell]:
    having = [charge for charge in worked.charges if charge.job.value(facet)]
    runs, all_runs = ({charge.job.run for charge in some} for some in (having, worked.charges))
    amount, charged = money(having), worked.charged
    return {
        "facet": facet,
        "values": len({charge.job.value(facet) for charge in having}),
        "runs": len(runs),
        "run_share": share_of(Decimal(len(runs)), Decimal(len(all_runs))),
        "amount": amount,
        "share": share_of(amount, charged),
        **{sure: share_of(part, charged) for sure, part in by_sureness(facet, having).items()},
        "not_set": less(charged, amount),
    }


def by_sureness(facet: str, having: Iterable[Charge]) -> dict[str, Decimal]:
    sums: dict[str, list[Decimal]] = defaultdict(list)
    for charge in having:
        sums[charge.job.facets[facet].sure].append(charge.amount)
    return {sure: total(sums[sure]) for sure in SURENESS if sure in sums}


def coverage_sentence(period: str, worked: Worked, rows: Sequence[dict[str, Cell]]) -> str:
    told = ", ".join(f"{row['facet']} {share_text(row['share'])}" for row in rows if row["amount"])
    known = f"of it is known: {told}." if told else "no rule says what kind of work it was."
    return f"Work in {period} was charged {shown(worked.charged, worked.currency)}; {known}"


def sure_sentence(row: dict[str, Cell], currency: str) -> str:
    """`phase (USD): 81.0 % stated, 12.0 % guessed from names, 7.0 % not set.`"""
    told = [f"{share_text(row[sure])} {WHERE_FROM[sure]}" for sure in SURENESS if sure in row]
    share = row["share"]
    if isinstance(share, Decimal) and share < 1:
        told.append(f"{percent(1 - share)} not set")
    return f"{row['facet']} ({currency}): {', '.join(told)}."


def share_text(share: Cell) -> str:
    return percent(share if isinstance(share, Decimal) else None)


def money_by_facet(record: Record, works: Sequence[Worked], facet: str) -> Report:
    """A row for each value, the most money first, then what has none and what is of no workload: together all that was posted."""
    period, columns = record.period, (Column(facet, facet), *VALUES)
    sections, sentences = [], []
    for worked in works:
        groups: dict[str, list[Charge]] = defaultdict(list)
        for charge in worked.charges:
            groups[charge.job.value(facet)].append(charge)
        order = sorted(groups, key=lambda value: (not value, -money(groups[value]), value))
        rows = [value_row(facet, value, groups[value], worked) for value in order]
        rest = less(worked.posted, worked.charged)
        if rest:
            rows.append({facet: NO_WORKLOAD, "amount": rest, "share": share_of(rest, worked.posted)})
        sections.append(section(worked.currency, worked.posted, columns, rows))
        known = [charge for charge in worked.charges if charge.job.value(facet)]
        sentences.append(
            f"Of {shown(worked.posted, worked.currency)} in {period}, {shown(money(known), worked.currency)} went to work of "
            f"{counted(len([value for value in order if value]), f'{facet} that is known', f'known values of {facet}')}."
        )
    title = " ".join(sentences) or f"No work was charged in {period}."
    return Report("facets", title, period, columns, tuple(sections), record.head, record.policies, more={"by": facet})


def value_row(facet: str, value: str, charges: Sequence[Charge], worked: Worked) -> dict[str, Cell]:
    amount = money(charges)
    return {
        facet: value or NOT_SET,
        "runs": len({charge.job.run for charge in charges}),
        "amount": amount,
        "share": share_of(amount, worked.posted),
        **(by_sureness(facet, charges) if value else {}),
    }
