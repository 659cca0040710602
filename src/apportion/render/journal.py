"""A journal as text: by the template that is shipped, or by one that people wrote.

A template is somebody's text, so it runs in Jinja's sandbox, and only in what gives the same bytes again: no chance, no file, no clock. A name
that does not exist is an error and never an empty cell.
"""

import csv
import io
import re
import traceback
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from apportion.errors import InputError
from apportion.model.times import Period
from apportion.render.csv import cell_text
from apportion.reports.journal import CREDIT, DEBIT, Entry, Line
from apportion.reports.statement.shape import money

SHIPPED = "journal.csv.j2"
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
INSIDE = "<template>"  # what Jinja calls a text without a file
LEFT_OUT = ("random", "lipsum", "cycler", "joiner", "namespace")
ENTRY = ("id", "date", "period", "bill", "currency", "debit", "credit", "lines")
LINE = (
    "id", "account", "cost_centre", "team", "owner", "component", "reason", "kind", "corrects", "why", "document", "side", "amount", "debit",
    "credit", "text",
)  # fmt: skip


def shipped() -> str:
    return (files("apportion.render") / "templates" / SHIPPED).read_text("utf-8")


def render(entries: Iterable[Entry], period: Period, template: str, name: str = SHIPPED) -> str:
    """`name` is what the template is called in an error."""
    try:
        return compiled(template).render(period=str(period), entries=[told(one, period) for one in entries])
    except TemplateError as error:
        raise wrong(name, error, getattr(error, "lineno", None) or line_of(error)) from error
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError, MemoryError) as error:
        raise wrong(name, error, line_of(error)) from error


@lru_cache(maxsize=8)
def compiled(template: str) -> Template:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # a file for finance, not a page
    )
    for word in LEFT_OUT:
        environment.filters.pop(word, None)
        environment.globals.pop(word, None)
    environment.filters |= {"csv": csv_row, "one_line": one_line}
    return environment.from_string(template)


def wrong(name: str, error: BaseException, line: int) -> InputError:
    reason = " ".join(str(error).split()) or type(error).__name__
    hint = f"an entry has {', '.join(ENTRY)}; each of its lines {', '.join(LINE)}"
    return InputError(
        "template-wrong", f"the template cannot be filled: {reason[:300]}", where=f"{name}:{line}", hint=hint
    )


def line_of(error: BaseException) -> int:
    """Jinja maps its frames back to the template's lines."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 1 for frame in reversed(frames) if frame.filename == INSIDE), 1)


def csv_row(cells: Sequence[object]) -> str:
    """One row as RFC 4180 has it; text that a spreadsheet would run as a formula gets a leading apostrophe."""
    out = io.StringIO()
    texts = [text if NUMBER.fullmatch(text) else cell_text(text) for text in map(str, cells)]
    csv.writer(out, lineterminator="\r\n").writerow(texts)  # of line breaks it quotes those that it knows
    return out.getvalue().removesuffix("\r\n")


def one_line(text: str) -> str:
    """Names come from outside, and in most formats a line break would begin another line of the journal."""
    return " ".join(text.split())


def told(entry: Entry, period: Period) -> dict[str, Any]:
    """Amounts are text with the digits of the currency, ready to be printed."""
    return {
        "id": entry.id,
        "date": str(period.last_day),
        "period": str(period),
        "bill": entry.bill,
        "currency": entry.currency,
        "debit": shown(entry.total(DEBIT), entry),
        "credit": shown(entry.total(CREDIT), entry),
        "lines": [told_line(line, entry) for line in entry.lines],
    }


def told_line(line: Line, entry: Entry) -> dict[str, str]:
    """`amount` is signed: a debit as it is, a credit negated, so that the amounts of an entry add up to 0."""
    one, amount = line.booking, shown(line.amount, entry)
    return {
        "id": line.id, "account": one.account, "cost_centre": one.cost_centre, "team": one.team, "owner": one.owner,
        "component": one.component, "reason": one.reason, "kind": one.kind.kind, "corrects": one.kind.corrects, "why": one.kind.why,
        "document": one.document, "side": line.side, "amount": shown(line.amount if line.side == DEBIT else -line.amount, entry),
        "debit": amount if line.side == DEBIT else "", "credit": amount if line.side == CREDIT else "", "text": text_of(line, entry),
    }  # fmt: skip


def text_of(line: Line, entry: Entry) -> str:
    one = line.booking
    if one.is_clearing:
        return one_line(f"bill {entry.bill}")
    carried = "" if one.owner == one.team else f", carried by {one.team}" if one.team else ", carried by nobody"
    special = "" if one.kind.kind == "plan" else f", {one.kind.kind}"
    corrects = f" of {one.kind.corrects}" if one.kind.corrects else ""
    why = f": {one.kind.why}" if one.kind.why else ""
    return one_line(f"{one.component} {one.reason} of {one.owner}{carried}{special}{corrects}{why}")


def shown(amount: int, entry: Entry) -> str:
    return format(money(amount, entry.digits), "f")
