"""The policy as a finding would have it: the text of the file with one change, kept by nobody until somebody asks for it."""

import re

from apportion.errors import PolicyError
from apportion.policy.document import Policy
from apportion.policy.edit import Edited, NewOwner
from apportion.reports.review.finding import Edit, Pattern
from apportion.reports.review.review import Drafted
from apportion.verbs.draft import owner_edit, policy_text, setting_edit, unified
from apportion.verbs.project import Project

GLOB = re.compile(r"([*?\[])")


def drafted(project: Project, finding: Pattern, posted: Policy, team: str = "") -> Drafted:
    """`posted`: the policy of the month. Of a pool that the file has otherwise by now nothing is drafted: that is somebody's answer already."""
    edit = finding.edit
    if edit is None or not is_same(project, edit, posted) or (edit.owner and not (team or edit.owner[2])):
        return Drafted(finding)
    old = policy_text(project)
    try:
        text = edited(project, edit, team).text
    except PolicyError:  # there is no place in the text for it: the sentence stands alone
        return Drafted(finding)
    return Drafted(finding, text, unified(old, text, project.settings.policy)) if text != old else Drafted(finding)


def edited(project: Project, edit: Edit, team: str = "") -> Edited:
    if edit.owner:
        label, pattern, likely = edit.owner
        return owner_edit(project, NewOwner(label, literally(pattern), team or likely))
    return setting_edit(project, list(edit.settings))


def literally(value: str) -> str:
    """As a glob that matches nothing else."""
    return GLOB.sub(r"[\1]", value)


def is_same(project: Project, edit: Edit, posted: Policy) -> bool:
    pools = {path[1] for path, _ in edit.settings}
    return all(project.policy.pools.get(name) == posted.pools.get(name) for name in pools)
