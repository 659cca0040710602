"""Anomalies as a report: the newest first, those that were acknowledged folded into a sentence each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from apportion.model.money import for_reading
from apportion.reports.anomaly.found import SHARES, Anomaly, Leader
from apportion.reports.held import places
from apportion.reports.report import Cell, Column, Report
from apportion.reports.sums import section, total
from apportion.reports.words import counted, percent, price_digits, shown

COLUMNS = (
    Column("id", "id"),
    Column("kind", "kind"),
    Column("owner", "owner"),
    Column("began", "began"),
    Column("until", "until"),
    Column("before", "before"),
    Column("now", "now"),
    Column("amount", "meant so far", "money"),
    Column("why", "most of it"),
    Column("state", "state"),
)
QUIET = "At most one false alarm per team and quarter is meant; what is known can be acknowledged: `apportion anomalies ack ID --why REASON`."


def anomaly_report(found: Sequence[Anomaly], period: str = "", *, every: bool = False) -> Report:
    """With those acknowledged only if `every`; else they are counted in a note."""
    order = sorted(found, key=lambda one: (-one.began.toordinal(), one.kind, one.owner, one.currency))
    told = [one for one in order if every or not one.acknowledged]
    known = [one for one in order if one.acknowledged]
    sections = []
    for currency in sorted({one.currency for one in told}):
        own = [one for one in told if one.currency == currency]
        made = section(currency, total(one.meant for one in own), COLUMNS, list(map(row_of, own)))
        sections.append(
            replace(made, totals=())
        )  # the same money may be dearer hours and more spending: no sum of it means anything
    notes = [one.sentence for one in told] + [folded(one) for one in known] + ([QUIET] if told else [])
    return Report(
        "anomalies", title(told, known), period, COLUMNS, tuple(sections), "", notes=tuple(notes), more={"anomalies": [value_of(one) for one in order]},
    )  # fmt: skip


def title(told: Sequence[Anomaly], known: Sequence[Anomaly]) -> str:
    news = [one for one in told if not one.acknowledged]
    said = f"{counted(len(news), 'thing is', 'things are')} not as usual" if news else "Nothing stands out"
    return said + (f"; {counted(len(known), 'more is', 'more are')} acknowledged." if known else ".")


def folded(one: Anomaly) -> str:
    known = one.acknowledged
    until = f" until {known.until}" if known and known.until else ""
    return (
        f"Acknowledged{until} by {known.who}: {known.why} ({one.id}, {one.kind} of {one.owner} since {one.began})."
        if known
        else ""
    )


def row_of(one: Anomaly) -> Mapping[str, Cell]:
    before, now = figures(one)
    why = f"{one.main_cause[0]} {shown(one.main_cause[1], one.currency)}" if one.main_cause else ""
    return {
        "id": one.id, "kind": one.kind, "owner": one.owner, "began": str(one.began), "until": str(one.until), "before": before, "now": now,
        "amount": one.meant or None, "why": why, "state": one.state + (", estimated" if one.estimated else ""),
    }  # fmt: skip


def figures(one: Anomaly) -> tuple[str, str]:
    """As they are read: a share, the price of a unit, or a day's money."""
    if one.kind in SHARES:
        before, now = (percent(places(figure)) for figure in (one.before, one.now))
    else:
        per = f" / {one.unit}" if one.unit else " / day"
        before, now = (price_digits(for_reading(figure), one.currency) + per for figure in (one.before, one.now))
    return before, now


def value_of(one: Anomaly) -> dict[str, object]:
    """For programs: every digit of the money, and causes that add up."""
    known = one.acknowledged
    return {
        "id": one.id, "kind": one.kind, "owner": one.owner, "shape": one.shape, "currency": one.currency, "began": str(one.began), "until": str(one.until),
        "before": for_reading(one.before), "now": for_reading(one.now), "unit": one.unit, "meant": one.meant, "causes": dict(one.causes),
        "leaders": [{"what": lead.what, "name": lead.name, "above": lead.above, "command": lead.command} for lead in one.leaders],
        "state": one.state, "estimated": one.estimated, "text": one.sentence,
        "acknowledged": {"who": known.who, "why": known.why, "at_s": known.at_s, "until": known.until} if known else None,
    }  # fmt: skip


def cause_report(one: Anomaly) -> Report:
    """The causes of one, adding up to what it meant; beside them what most of it is in, which does not add up."""
    columns = (Column("cause", "cause"), Column("meaning", "meaning"), Column("amount", "amount", "money"))
    rows: list[Mapping[str, Cell]] = [
        {"cause": name, "meaning": MEANING.get(name, ""), "amount": amount} for name, amount in one.causes.items()
    ]
    made = section(one.currency, one.meant, columns, rows)
    notes = [f"{lead.what} {lead.name}: {than_before(lead, one.currency)}." for lead in one.leaders]
    notes += [folded(one)] if one.acknowledged else []
    return Report(
        "anomaly", one.sentence, "", columns, (made,), "", notes=tuple(notes), more={"anomaly": value_of(one)}
    )


def than_before(lead: Leader, currency: str) -> str:
    return f"{shown(abs(lead.above), currency)} {'more' if lead.above > 0 else 'less'} than before"


MEANING = {
    "price": "what an hour of the same pools costs",
    "volume": "how many hours",
    "mix": "which pools",
    "use": "use that is not counted in hours",
    "bill": "what the pool costs as a whole",
    "hours": "how many hours bear it",
    "idle": "a share of what stood idle",
    "overhead": "a share of what all bear",
    "adjustments": "credits and adjustments",
    "unsold": "nobody held it",
    "reserved": "reserved and not held",
    "held": "held and not used",
    "down": "not up",
    "failed": "attempts that failed",
    "out_of_memory": "attempts that ran out of memory",
    "timeout": "attempts that ran out of time",
    "node_fail": "attempts whose node failed",
}
