"""Blocks that several pages show: what a change of the policy does to whom, and how two texts differ."""

from difflib import SequenceMatcher
from hashlib import sha256

from apportion.policy.document import Policy
from apportion.render.chart import colours, dumbbell, number
from apportion.reports.words import shown
from apportion.verbs.repriced import Instead
from apportion.verbs.whatif import Whatif, compared, policy_of, tables
from apportion.web.ask import Ask
from apportion.web.page import Block, Chart, Line, Lines, Prose, Rows
from apportion.web.pages.overview import team_order

AROUND = 3  # lines that are shown beside what differs


def computed(ask: Ask, new: Policy | Instead, old: Policy | None = None) -> Whatif:
    """Over the asked month, against what is posted unless another policy is given. Takes seconds, once."""
    project, month = ask.project, ask.month
    wanted = new if isinstance(new, Instead) else Instead(new)
    key = (
        "whatif",
        str(month),
        old.version if old else "",
        sha256(wanted.policy.text.encode()).hexdigest(),
        wanted.bills,
    )
    return ask.desk.kept(key, lambda: compared(project, month, old or policy_of(project, month), wanted))


def effect(ask: Ask, made: Whatif) -> list[Block]:
    """A dumbbell and its table for each currency; owners that nothing moves for are not drawn."""
    blocks: list[Block] = []
    for table in tables(made):
        if not table.rows:
            continue
        names = [str(row[0]) for row in table.rows]
        order = team_order(ask, set(names))
        mine = [row for row in made.rows if row.currency == table.currency and row.sign != " "]
        values = [
            {
                "owner": row.owner, "before": number(row.before), "after": number(row.after), "was": shown(row.before, row.currency),
                "then": shown(row.after, row.currency), "change": shown(row.change, row.currency),
            }
            for row in mine
        ]  # fmt: skip
        links = {"before": [ask.explained(name) for name in names]} if made.posted else {}
        rows = Rows(table, links=links)
        says = f"From what each owes for {made.period} (ring) to what it would owe (dot), in {table.currency}."
        spec = dumbbell(values, colours(order), names, table.currency)
        blocks.append(Chart("Who gains and who loses", says, spec, rows, folded=False))
    return blocks or [Prose((made.title,), "Who gains and who loses")]


def told(made: Whatif) -> Prose:
    against = f"what is posted for {made.period}" if made.posted else f"the plan of {made.period} under {made.was}"
    bills = tuple(f"{said[0].upper()}{said[1:]}." for said in made.bills)
    said = made.clauses or (() if bills else ("No clause differs.",))
    heading = "What changes in the rules" if made.clauses or not bills else "What changes"
    return Prose((f"{made.policy} against {against}:", *bills, *said), heading)


def differing(old: str, new: str, heading: str = "What changes in the text") -> Lines:
    """Lines with + and -, those around them, and a mark where others are left out."""
    before, after = old.splitlines(), new.splitlines()
    lines: list[Line] = []
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(AROUND):
        if lines:
            lines.append(Line("…", sign="…"))
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [Line(" " + text, c + n + 1) for n, text in enumerate(after[c:d])]
                continue
            lines += [Line(text, a + n + 1, sign="-") for n, text in enumerate(before[a:b])]
            lines += [Line(text, c + n + 1, sign="+") for n, text in enumerate(after[c:d])]
    return Lines(tuple(lines) or (Line("The texts are the same."),), heading)


def numbered(text: str, heading: str) -> Lines:
    """Every line has its anchor: `#L66`."""
    return Lines(tuple(Line(line, n, f"L{n}") for n, line in enumerate(text.splitlines(), 1)), heading)
