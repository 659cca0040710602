"""The journal of a closed month: made of its minor units under the policy that it was closed with, and written for finance to import."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from apportion.books.shapes import CLOSE, PLAN, Closed
from apportion.errors import BooksError, InputError
from apportion.model.minor import apart
from apportion.model.result import Result
from apportion.model.times import Period
from apportion.policy.accounts import Charge, clearing_of, place_of
from apportion.policy.document import Policy
from apportion.render.journal import SHIPPED, render, shipped
from apportion.reports.journal import Booking, Entry, Kind, Places, check
from apportion.reports.journal import journal as made_of
from apportion.verbs.agreement import policy_of_version
from apportion.verbs.files import put
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.run_rows import owners_side

Documents = Mapping[tuple[str, str], str]  # the invoice number of each team that is charged, by team and currency


@dataclass(frozen=True, slots=True, repr=False)
class Exported(Result):
    """`again` tells that the very same file was written before."""

    period: str
    path: Path
    sha256: str
    entries: tuple[Entry, ...]
    again: bool


def export_journal(
    project: Project, period: Period | str, to: str | Path, template: str | Path | None = None
) -> Exported:
    """Write the journal of a closed month for finance to import.

    The same month gives the same bytes, whatever is booked later. It is noted in the audit log once.
    """
    period, to = as_period(period), Path(to)
    text, name = (read_template(Path(template)), str(template)) if template else (shipped(), SHIPPED)
    entries = journal(project, period)
    body = render(entries, period, text, name).encode()
    sha256 = hashlib.sha256(body).hexdigest()
    noted = False

    def note() -> None:
        nonlocal noted
        noted = project.books.note_once("export", f"journal of {period}, sha256 {sha256}")

    put(to, body, note)
    return Exported(str(period), to, sha256, entries, again=not noted)


def journal(project: Project, period: Period | str) -> tuple[Entry, ...]:
    """The entries of a closed month's journal. Refuses a month that is open: its figures may still move."""
    period = as_period(period)
    closed = project.books.closed(str(period))
    if closed is None:
        raise BooksError(
            "period-open",
            f"{period} is open, and only a closed month is booked",
            hint=f"apportion close --period {period}",
        )
    policy = policy_of_version(project, closed.policy_version)
    runs = {
        run.run_id: run for run in project.books.runs() if run.period == closed.period and run.kind not in (PLAN, CLOSE)
    }
    rows = apart(closed.minor, owners_side(project, list(runs)).rename_columns({"run_id": "run"}))
    kinds = {name: Kind(run.kind, run.about, run.cause) for name, run in runs.items()}
    entries = made_of(closed.period, rows, kinds, places_of(policy, period, documents_of(closed)))
    check(entries, project.books.posted(closed.period))
    return entries


def documents_of(closed: Closed) -> Documents:
    return {(one.owner, one.currency): one.label for one in closed.documents if one.number}


def places_of(policy: Policy, period: Period, documents: Documents) -> Places:
    known: dict[tuple[tuple[str, ...], str], Booking] = {}

    def charge(given: tuple[str, ...], currency: str) -> Booking:
        if (given, currency) not in known:
            one = Charge(*given)
            place = place_of(policy, period, one)
            number = documents.get((place.team, currency), "") if place.charged else ""
            known[given, currency] = Booking(
                place.account, place.cost_centre, place.team, one.team, one.component, one.reason, document=number
            )
        return known[given, currency]

    return Places(charge, lambda bill: clearing_of(policy, bill), policy.journal.negative == "turned")


def read_template(path: Path) -> str:
    if not path.is_file():
        raise InputError(
            "no-such-file",
            f"there is no template {path}",
            hint="apportion export journal --print-template > journal.csv.j2",
        )
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise InputError(
            "template-wrong", f"the template is not UTF-8 text: {error.reason} at byte {error.start}", where=str(path)
        ) from error
