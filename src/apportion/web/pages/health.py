"""`/health`: is the data whole and fresh, and whose is what nobody owns? Nothing outside is asked."""

from collections.abc import Mapping, Sequence

from apportion.books.rounds import AMISS, SKIPPED, Round
from apportion.errors import ApportionError
from apportion.model.findings import JudgedFinding
from apportion.model.times import instant_text
from apportion.policy.edit import NewOwner
from apportion.policy.load import load_policy
from apportion.render.chart import DAYS, days_known
from apportion.render.sheet import Table, report_sheet
from apportion.reports.findings import COLUMNS, HEADING, finding_rows
from apportion.reports.groups import NOBODY
from apportion.reports.report import Column
from apportion.reports.sums import total
from apportion.reports.words import counted, shown
from apportion.verbs.draft import owner_edit, policy_text
from apportion.verbs.findings import findings_now, newest_period
from apportion.verbs.gaps import Gap, likely_team
from apportion.verbs.health import COMPLETE, MISSING, NO_ROW, PARTLY, Days, Health, health, unmapped
from apportion.web.ask import Ask
from apportion.web.bills import said
from apportion.web.effects import computed, differing, effect
from apportion.web.frame import Entry
from apportion.web.page import Block, Chart, Figure, Figures, Form, Input, Link, Page, Prose, Rows, Tone
from apportion.web.pages.drafts import PLACES, rule_of
from apportion.web.routes import Route
from apportion.web.viewer import Deed

FEW = 25
TONES: dict[str, Tone] = {"wrong": "bad", "note": "warn", "ok": ""}
FIELDS = ("label", "value", "team", "project", "user", "place")

LEADS = {"owners": "/teams", "idle": "/idle"}  # where the parts of a bill are told; the others are postings


def data_health(ask: Ask) -> Page:
    month = ask.month if ask.known_months else None
    if month is None:
        return Page(
            "health",
            "Nothing is posted yet.",
            (
                Prose(("Run `apportion ingest`, `apportion plan` and `apportion apply`.",)),
                findings(first_findings(ask)),
            ),
            "apportion check",
        )
    found = ask.desk.kept(("health", str(month)), lambda: health(ask.project, month))
    gaps = ask.desk.kept(("unmapped", str(month)), lambda: unmapped(ask.project, month))
    quarantine = ask.project.books.quarantine()
    blocks: list[Block] = [
        strip(ask, found, gaps),
        known_days(found),
        freshness(found),
        nobodys(ask, gaps),
        *coverage(ask),
        *bills(ask),
        findings(found.findings),
        checks(found),
    ]
    blocks += [held_back(quarantine)] if quarantine else []
    last = ask.project.books.rounds.last()
    blocks += [last_round(last)] if last else []
    is_moving = last is not None  # rounds that change nothing are told all the same
    return Page("health", found.title, tuple(blocks), f"apportion check --period {month}", fleeting=is_moving)


def strip(ask: Ask, found: Health, gaps: Sequence[Gap]) -> Figures:
    fresh = sum(one.is_fresh for one in found.sources)
    problems = sum(one.doubtful for one in found.brought)
    quarantined = sum(one.quarantined for one in found.brought)
    items = [
        Figure(
            "sources without a gap",
            f"{fresh} of {len(found.sources)}",
            tone="good" if fresh == len(found.sources) else "bad",
        ),
        Figure("rows with a problem", f"{problems:,}", tone="warn" if problems else "good"),
        Figure(
            "rows held back",
            f"{quarantined:,}",
            note="two deliveries say different things" if quarantined else "",
            tone="warn" if quarantined else "good",
        ),
    ]
    for currency in sorted({gap.currency for gap in gaps}):
        amount = total(gap.amount for gap in gaps if gap.currency == currency)
        items.append(
            Figure(
                "used by nobody known",
                shown(amount, currency),
                ask.explained("_unallocated"),
                tone="warn" if amount else "good",
            )
        )
    return Figures(tuple(items))


def known_days(found: Health) -> Chart:
    values = [
        {"source": source, "day": f"{day.day:02}", "date": str(day), "status": status, "sign": DAYS[status][1]}
        for source, days in found.days.items()
        for day, status in days
    ]
    columns = (
        Column("source", "source"), Column("complete", "complete", "count"), Column("no row", "no row", "count"), Column("partly", "partly"),
        Column("missing", "missing"),
    )  # fmt: skip
    rows = tuple(
        (source, number_of(days, COMPLETE), number_of(days, NO_ROW), dates(days, PARTLY), dates(days, MISSING))
        for source, days in found.days.items()
    )
    says = (
        "Each source and day of the month. A day of files without a row may be a quiet one, or a file that never came."
    )
    return Chart("What the books have", says, days_known(values, list(found.days)), Rows(Table(columns, rows)))


def number_of(days: Days, status: str) -> int:
    return sum(one == status for _, one in days)


def dates(days: Days, status: str) -> str:
    return ", ".join(str(day) for day, one in days if one == status)


def freshness(found: Health) -> Rows:
    columns = tuple(Column(name, name) for name in ("source", "state", "until", "since", "kind"))
    rows = tuple((one.source, one.text, day_text(one.until), day_text(one.since), one.kind) for one in found.sources)
    tones: list[Tone] = ["" if one.is_fresh else "bad" for one in found.sources]
    return Rows(Table(columns, rows), "How fresh each source is", tones=tones)


def day_text(second: int) -> str:
    """To the minute; empty where there is none."""
    return instant_text(second)[:16].replace("T", " ") if second else ""


def nobodys(ask: Ask, gaps: Sequence[Gap]) -> Rows:
    columns = (
        Column("labels", "labels"), Column("amount", "amount", "money"), Column("currency", "currency"), Column("owner", "mend it"),
        Column("workloads", "workloads", "count"), Column("examples", "such as"),
    )  # fmt: skip
    first = gaps[:FEW]
    fixes = ["give it an owner" if gap.labels else "label it at its source" for gap in first]
    rows = tuple(
        (labels_text(gap), gap.amount, gap.currency, fix, gap.count, ", ".join(gap.examples))
        for gap, fix in zip(first, fixes, strict=True)
    )
    links = {
        "owner": [owner_link(ask, gap) for gap in first],
        "amount": [ask.ledger("team=_unallocated", "cause=no owner") for _ in first],
        "examples": [ask.explained(f"job:{gap.examples[0]}") if gap.examples else "" for gap in first],
    }
    more = f", the largest {FEW} of {len(gaps)}" if len(gaps) > FEW else ""
    return Rows(
        Table(columns, rows),
        f"Work that no owner rule finds{more}",
        links,
        "amount",
        empty="Every workload has an owner.",
    )


def labels_text(gap: Gap) -> str:
    return ", ".join(f"{key} = {value}" for key, value in gap.labels.items()) or "no label at all"


def owner_link(ask: Ask, gap: Gap) -> str:
    if not gap.labels:
        return ""
    label, value = next(iter(gap.labels.items()))
    return ask.link(
        "/health/owner", label=label, value=value, guess=likely_team(gap.labels, ask.project.policy), where=None
    )


def coverage(ask: Ask) -> list[Block]:
    """One table for each currency."""
    made = ask.report("coverage")
    return [
        Rows(
            table,
            "" if n else made.title,
            {
                "side": [ask.link(LEADS.get(str(row[0]), "/ledger")) for row in table.rows],
                "amount": [part_link(ask, *map(str, row[:3])) for row in table.rows],
            },
            lead=ask.ledger(),
        )
        for n, table in enumerate(report_sheet(made).tables[: len(made.sections)])
    ]


def part_link(ask: Ask, side: str, cause: str, pool: str) -> str:
    """All that teams owe stands team by team; what they do not, as postings. Rounding is told by its reason."""
    if side == "owners":
        return ask.link(LEADS[side])
    why = "reason" if side == "residual" else "cause"
    return ask.ledger(f"team=_{side}", f"{why}={cause or NOBODY}", f"pool={pool or NOBODY}")


def bills(ask: Ask) -> list[Block]:
    """What each says itself, whatever is posted of it."""
    try:
        found = said(ask)
    except ApportionError as error:
        return [Prose((error.message, error.where, error.hint), "The bills cannot be read", tone="bad")]
    if not found:
        return []
    columns = (
        Column("bill", "bill"), Column("currency", "currency"), Column("says", "the bill says", "money"), Column("posted", "posted", "money"),
        Column("difference", "difference", "money"),
    )  # fmt: skip
    rows = tuple((one.bill, one.currency, one.says, one.posted, one.difference) for one in found)
    tones: list[Tone] = ["bad" if one.difference else "" for one in found]
    entries = [ask.link("/ledger", where=[f"bill={one.bill}"]) for one in found]
    links = dict.fromkeys(("says", "posted", "difference"), entries)
    apart = sum(bool(one.difference) for one in found)
    heading = f"{counted(apart, 'bill')} not posted as they say" if apart else "All bills are posted as they say"
    return [Rows(Table(columns, rows), heading, links, tones=tones)]


def first_findings(ask: Ask) -> tuple[JudgedFinding, ...]:
    """Before anything is posted: of the month that would be."""
    month = newest_period(ask.project)
    return ask.desk.kept(("findings", month), lambda: findings_now(ask.project, month))


def findings(found: Sequence[JudgedFinding]) -> Rows:
    """The list that every face shows."""
    tones: list[Tone] = ["bad" if one.stops else "" if one.acceptance else "warn" for one in found]
    table = Table(COLUMNS, finding_rows(found))
    return Rows(table, HEADING, tones=tones, empty="Every row of the month was taken as it is.")


def checks(found: Health) -> Rows:
    columns = tuple(Column(name, name) for name in ("what", "status", "text", "fix"))
    rows = tuple((one.what, one.status, one.text, one.fix) for one in found.checks)
    return Rows(Table(columns, rows), "What else was found", tones=[TONES[one.status] for one in found.checks])


def last_round(last: Round) -> Rows:
    """What of it was not done; all of it where nothing was left."""
    columns = tuple(Column(name, name) for name in ("step", "subject", "outcome", "what"))
    told = [one for one in last.steps if one.outcome in (AMISS, SKIPPED)]
    rows = tuple((one.step, one.subject, one.outcome, one.what) for one in told)
    ended = f" and ended {day_text(last.ended_s)}" if last.ended_s else ""
    heading = f"Round {last.number} began {day_text(last.began_s)}{ended}: {last.status}"
    tones: list[Tone] = ["bad" if one.outcome == AMISS else "" for one in told]
    return Rows(Table(columns, rows), heading, tones=tones, empty="All of its steps were done.")


def held_back(rows: Sequence[Mapping[str, object]]) -> Rows:
    columns = tuple(Column(name, name) for name in ("source", "table", "key", "content"))
    cells = tuple(tuple(str(row[column.name]) for column in columns) for row in rows[:FEW])
    return Rows(
        Table(columns, cells), f"{counted(len(rows), 'row')} held back, because two deliveries say different things"
    )


def owner(ask: Ask) -> Page:
    """A rule, what it changes in the text and what it does to whom, before anything is kept."""
    given = {name: ask.one(name) for name in FIELDS}
    blocks: list[Block] = [owner_form(ask)]
    title = f"Whose is the work with {given['label'] or 'this label'} {given['value']}?".strip()
    if given["label"] and given["value"] and given["team"]:
        try:
            rule = rule_of(given)
            title, shown_blocks = previewed(ask, rule, given["place"])
            blocks += [*shown_blocks, keep_form(given)]
        except ApportionError as error:
            blocks.append(Prose((error.message, error.where, error.hint), "That rule cannot be written", tone="bad"))
    crumbs = (Link("Data health", ask.link("/health")),)
    return Page("owner", title, tuple(blocks), "apportion whatif --policy FILE", crumbs=crumbs, fleeting=True)


def previewed(ask: Ask, rule: NewOwner, place: str) -> tuple[str, list[Block]]:
    edited = owner_edit(ask.project, rule, PLACES.get(place))
    made = computed(ask, load_policy(edited.text, ask.project.settings.policy))
    where = f"It would be line {edited.line} of {ask.project.settings.policy}; the first rule that matches wins."
    how = f"Computed again over {made.period}, from what the month was posted with; nothing is posted."
    return made.title, [
        Prose((where,), "The rule", code=f"- {rule.text}"),
        *effect(ask, made),
        Prose((how,), tone="quiet"),
        differing(policy_text(ask.project), edited.text),
    ]


def owner_form(ask: Ask) -> Form:
    teams = tuple(ask.project.policy.teams)
    team = ask.one("team") or ask.one("guess")
    inputs = (
        Input("label", "Label", ask.one("label"), needed=True),
        Input("value", "Value", ask.one("value"), needed=True, hint="As it is, or a pattern such as asr-*."),
        Input("team", "Team", team, choices=teams),
        Input(
            "project",
            "Project",
            ask.one("project"),
            hint="A name, or a label in braces such as {slurm.wckey}; empty for none.",
        ),
        Input("user", "User", ask.one("user"), hint="A label in braces such as {slurm.user}; empty for none."),
        Input("place", "Where", ask.one("place"), choices=tuple(PLACES), hint="The first rule that matches wins."),
        Input("period", "", ask.period, "hidden"),
    )
    return Form("/health/owner", inputs, "Show what it does", "An owner for it", post=False)


def keep_form(given: dict[str, str]) -> Form:
    inputs = (*(Input(name, "", given[name], "hidden") for name in FIELDS), Input("why", "Why", needed=True))
    says = "The policy stays as it is until somebody adopts the draft."
    return Form("/drafts/owner", inputs, "Save as a draft", "Propose it", says=says)


ROUTES = (
    Route("/health", data_health, Deed.whole, Entry("Data health", "/health", "h", Deed.whole)),
    Route("/health/owner", owner, Deed.whole),
)
