"""The journal of a closed month: made of its minor units under the policy that it was closed with, and written for finance to import."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from apportion.books.shapes import CLOSE, PLAN, Closed, StoredRun
from apportion.errors import BooksError, InputError
from apportion.model.rows import MINOR_KEY
from apportion.model.times import Period
from apportion.policy.accounts import Charge, clearing_of, place_of
from apportion.policy.document import Policy
from apportion.render.journal import SHIPPED, render, shipped
from apportion.reports.journal import Booking, Entry, Kind, Labels, Places, check
from apportion.reports.journal import journal as made_of
from apportion.verbs.agreement import policy_of_version
from apportion.verbs.files import put
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project

Documents = Mapping[str, str]  # the invoice number of each team that is charged


@dataclass(frozen=True, slots=True)
class Exported:
    """`again` tells that the very same file was written before."""

    period: str
    path: Path
    sha256: str
    entries: tuple[Entry, ...]
    again: bool


def export_journal(
    project: Project, period: Period | str, to: str | Path, template: str | Path | None = None
) -> Exported:
    """The same month gives the same bytes, whatever is booked later. It is noted in the audit log once."""
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
    """Refuses a month that is open: its figures may still move."""
    period = as_period(period)
    closed = project.books.closed(str(period))
    if closed is None:
        raise BooksError(
            "period-open",
            f"{period} is open, and only a closed month is booked",
            hint=f"apportion close --period {period}",
        )
    policy = policy_of_version(project, closed.policy_version)
    entries = made_of(
        closed.period, closed.minor, kinds_of(project, closed), places_of(policy, period, documents_of(project, closed))
    )
    check(entries, project.books.posted(closed.period))
    return entries


def documents_of(project: Project, closed: Closed) -> Documents:
    del project, closed
    return {}


def places_of(policy: Policy, period: Period, documents: Documents) -> Places:
    known: dict[tuple[str, ...], Booking] = {}

    def charge(given: tuple[str, ...]) -> Booking:
        if given not in known:
            one = Charge(*given)
            place = place_of(policy, period, one)
            number = documents.get(place.team, "") if place.charged else ""
            known[given] = Booking(
                place.account, place.cost_centre, place.team, one.team, one.component, one.reason, document=number
            )
        return known[given]

    return Places(charge, lambda bill: clearing_of(policy, bill), policy.journal.negative == "turned")


def kinds_of(project: Project, closed: Closed) -> Labels:
    """Which minor units are of corrections, credits and reclasses that were booked in the month, and what those correct."""
    runs = {
        run.run_id: run for run in project.books.runs() if run.period == closed.period and run.kind not in (PLAN, CLOSE)
    }
    if not runs:
        return {}
    entries = project.books.entries(run_id=list(runs))
    entries = entries.filter(pc.invert(pc.starts_with(entries["account"], "bill:")))
    by_key: dict[tuple[str, ...], set[str]] = {}
    for *key, run_id in zip(*(entries[name].to_pylist() for name in (*MINOR_KEY, "run_id")), strict=True):
        by_key.setdefault(tuple(key), set()).add(run_id)
    plan = project.books.posted(closed.period, kinds=[PLAN])
    planned = set(zip(*(plan[name].to_pylist() for name in MINOR_KEY), strict=True)) & by_key.keys()
    return {key: kind_of([runs[one] for one in sorted(found)], planned=key in planned) for key, found in by_key.items()}


def kind_of(runs: list[StoredRun], *, planned: bool) -> Kind:
    kinds = sorted({run.kind for run in runs})
    corrects, why = ({getattr(run, name) for run in runs} - {""} for name in ("about", "cause"))
    return Kind(" and ".join([PLAN] * planned + kinds), ", ".join(sorted(corrects)), "; ".join(sorted(why)))


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
