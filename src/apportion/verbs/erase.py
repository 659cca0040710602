"""Take users' names out of closed months, in the record and in the evidence; hashes, sums and owners stay."""

import re
from datetime import date
from zoneinfo import ZoneInfo

from apportion.books.erase import Erased
from apportion.books.pseudonyms import Asked
from apportion.engine.ties import tag_kind
from apportion.errors import ProjectError
from apportion.model.times import Period, day_start, parse_period
from apportion.policy.load import load_policy
from apportion.policy.telling import told_by
from apportion.verbs.project import Project
from apportion.verbs.settings import FILE

KEPT = re.compile(r"([1-9]\d{0,2}) months?")
TAG = "tag."


def erase(project: Project, before: Period, user: str = "", why: str = "", *, yes: bool = False) -> Erased:
    """Take users' names out of the books before a month: what would be erased; with `yes` it is. `user` narrows it to one."""
    asked = request(project, before, user, why)
    return project.books.erase(asked) if yes else project.books.would_erase(asked)


def renew_key(project: Project, why: str) -> None:
    """The key that the project has now is the books' from now on."""
    project.books.renew_names_key(why)


def request(project: Project, before: Period, user: str, why: str) -> Asked:
    """No value changes by which a rule of any policy that was ever saved tells an owner, a pool, a price or a node."""
    policies = [load_policy(one.text, one.file) for one in project.books.policies()]
    telling = told_by(policies)

    def keeps(label: str, old: str, new: str) -> bool:
        tells_node = label.startswith(TAG) and tag_kind(label.removeprefix(TAG)) is not None
        return tells_node or telling.differs(label, old, new)

    zones = [ZoneInfo(policy.time_zone) for policy in policies] or [ZoneInfo("UTC")]
    start_s = min(day_start(before.first_day, zone) for zone in zones)
    return Asked(str(before), start_s, telling.users, keeps, user, why)


def kept_until(project: Project, today: date) -> Period:
    """The first month whose names are still kept, by `names` under [retention]."""
    stated = project.settings.retention
    found = KEPT.fullmatch(stated)
    if not found:
        raise ProjectError(
            "no-retention",
            f"{FILE} does not say how long names are kept",
            where=str(project.folder / FILE),
            hint='give --before MONTH, or set names = "24 months" under [retention]',
        )
    month = parse_period(f"{today:%Y-%m}")
    for _ in range(int(found[1])):
        month = month.previous
    return month
