"""What a request asks: the months, the filters and whose eyes see the answer. Every link that a page shows carries them on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import quote, urlencode

from apportion.errors import ApportionError, ProjectError
from apportion.model.times import Period
from apportion.reports.groups import narrowed
from apportion.reports.report import Record, Report
from apportion.verbs.explaining.seen import ANOTHER
from apportion.verbs.periods import asked, label, today
from apportion.verbs.project import Project
from apportion.verbs.report import end_of, posted_periods, report_from, with_findings
from apportion.verbs.search import is_of
from apportion.web.desk import Desk
from apportion.web.viewer import Deed, Viewer

CARRIED = ("period", "where", "as_of")  # what a link to another page takes along
FORMATS = (".json", ".csv", ".html")
DOTS = re.compile(r"\.\.?(\.html)*")  # alone a browser takes them for a folder: inside a path they get an ending


class NotThereError(ApportionError):
    """There is no such thing, or it is not theirs to see: nobody can tell which."""

    def __init__(self, what: str) -> None:
        super().__init__("not-there", f"there is no {what} here", hint="look for it with the search, or ask for access")


class NotAllowedError(ApportionError):
    """They may see it but not do that."""

    def __init__(self, deed: Deed) -> None:
        super().__init__("not-allowed", f"you may not do that ({deed})", hint="ask an admin for the role that may")


@dataclass(frozen=True)
class Ask:
    """One request. `query` is that of its URL, each name with all its values."""

    desk: Desk
    viewer: Viewer
    path: str = "/"
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def one(self, name: str, default: str = "") -> str:
        return next(iter(self.query.get(name, ())), default)

    @property
    def project(self) -> Project:
        return self.desk.project

    def require(self, deed: Deed) -> None:
        if not self.viewer.may(deed):
            raise NotAllowedError(deed)

    def require_team(self, team: str) -> None:
        if not self.viewer.sees(team):
            raise NotThereError("such team")

    def sees_owner(self, path: str) -> bool:
        """TEAM, TEAM/PROJECT or TEAM/PROJECT/USER. Names have slashes: where it could be of two teams, both must be theirs."""
        if self.viewer.teams is None:
            return True
        every = self.desk.kept("teams", lambda: frozenset({*self.project.policy.teams, *self.project.books.teams()}))
        return is_of(path, self.viewer.teams, every)

    def called(self, path: str) -> str:
        """Who is on the other side of a deal is theirs to know only where they may see that team."""
        return path if self.sees_owner(path) else ANOTHER

    @cached_property
    def months(self) -> list[Period]:
        """Those asked for; the newest posted one unless some are."""
        known = self.known_months
        found = asked(
            self.one("period") or None,
            known,
            today(),
            "nothing is posted yet: run `apportion plan` and `apportion apply`",
        )
        return [month for month in found if len(found) == 1 or str(month) in known] or found

    @cached_property
    def known_months(self) -> set[str]:
        return self.desk.kept("posted periods", lambda: posted_periods(self.project))

    @property
    def month(self) -> Period:
        if len(self.months) != 1:
            raise ProjectError("one-month", "this is about one month", hint="give period=2026-10")
        return self.months[0]

    @property
    def period(self) -> str:
        """As it is written in links."""
        return self.one("period") if len(self.months) > 1 else str(self.months[0])

    @property
    def filters(self) -> tuple[str, ...]:
        """Those of the URL, within what the viewer may see."""
        own = tuple(self.query.get("where", ()))
        return (*own, *self.viewer.where) if not any(one.startswith("team=") for one in own) else self._within(own)

    def _within(self, own: tuple[str, ...]) -> tuple[str, ...]:
        for one in own:
            if one.startswith("team="):
                self.require_team(one.removeprefix("team="))
        return own

    @property
    def until_s(self) -> int | None:
        """The end of the day as of which it is asked."""
        return end_of(self.project, self.one("as_of")) if self.one("as_of") else None

    def record(self, project: Project, periods: list[Period], until_s: int | None = None) -> Record:
        """What the viewer may see of it: not even a hint is made of the rest."""
        whole = self.desk.record(project, periods, until_s)
        if self.viewer.teams is None:
            return whole
        own = tuple(sorted(self.viewer.teams))
        key = ("record", tuple(map(str, periods)), until_s, own)
        return self.desk.kept(key, lambda: narrowed(whole, {"team": own}))

    def report(self, name: str, **options: str) -> Report:
        """A report over what the viewer may see of what was asked: what `apportion report` prints with the same filters."""
        given = {**({"as_of": self.one("as_of")} if self.one("as_of") else {}), **options}
        where = self.filters
        key = ("report", name, label(self.months), where, self.viewer.teams, tuple(sorted(given.items())))
        return self.desk.kept(key, lambda: self.made_report(name, where, given))

    def made_report(self, name: str, where: Sequence[str], given: Mapping[str, str]) -> Report:
        made = report_from(self.record, self.project, name, self.months, where, **given)
        sees_all = name == "coverage" and self.viewer.teams is None
        return with_findings(self.project, made, self.months) if sees_all else made

    def link(self, path: str, **changes: str | Sequence[str] | None) -> str:
        """A link that says the same months and filters, but for the changes; None leaves one out."""
        carried: dict[str, Sequence[str]] = {name: self.query[name] for name in CARRIED if self.query.get(name)}
        carried["period"] = (
            [self.period] if "period" not in changes and self.known_months else carried.get("period", [])
        )
        for name, value in changes.items():
            carried[name] = [] if value is None else [value] if isinstance(value, str) else value
        pairs = [(name, value) for name, values in carried.items() for value in values if value]
        return path + ("?" + urlencode(pairs) if pairs else "")

    @property
    def permalink(self) -> str:
        own = {name: list(values) for name, values in self.query.items() if name not in CARRIED}
        return self.link(self.path, **own)

    def ledger(self, *more: str) -> str:
        """The postings behind a figure: within the filters of the URL, but for dimensions that it names itself."""
        named = {one.partition("=")[0] for one in more}
        kept = [one for one in self.query.get("where", ()) if one.partition("=")[0] not in named]
        return self.link("/ledger", where=[*kept, *more])

    def explained(self, what: str) -> str:
        """Where a figure of one month is explained; `what` is a team, `pool:h100`, `job:123` or `posting:7`."""
        return self.link("/explain", what=what, where=None)


def at(room: str, *names: str) -> str:
    """The path of a page about something by name, whatever characters the name has."""
    inside = [f"{name}.html" if DOTS.fullmatch(name) else quote(name, safe="") for name in names[:-1]]
    return whole("/".join([room, *inside, *(quote(name, safe="") for name in names[-1:])]))


def whole(path: str) -> str:
    """Where a name ends like a format, one more ending says that the page is meant; dots alone would be taken for a folder."""
    return path + ".html" if path.endswith((*FORMATS, "/.", "/..")) else path
