"""Names of users in what-ifs that were saved go with those of their months; what they came to stays, sealed anew."""

import apportion
from apportion.model.times import parse_period
from apportion.render.sheet import Sheet
from apportion.verbs.project import Project
from apportion.verbs.saved import Wish, save, saved, shown
from tests.erasure import worlds


def test_names_of_users_go_from_saved_ones_too(project: Project) -> None:
    """Those of users that the books know by name; hashes, and what they came to, stay."""
    rule = worlds.POLICY.replace("owners:\n", "owners:\n  - {when: {slurm.user: alice}, team: speech}\n")
    for month, name in (("2026-07", "alice to speech"), ("2026-09", "alice later")):
        made = Sheet("alice's work is speech's.", (), {"rule": "alice"}, ("owners[1] is added: {slurm.user: alice}",))
        save(project, name, Wish((month,), {"next": rule}), made)
    assert apportion.erase(project, parse_period("2026-09")).found["whatifs"] == 1
    assert apportion.erase(project, parse_period("2026-09"), why="old", yes=True).number
    old, new = sorted(saved(project), key=lambda one: one.months)
    token = project.books.names.token("alice")
    assert "alice" not in f"{old.name}{old.asked}{old.result}"
    assert shown(project, old).title == f"{token} to speech: {token}'s work is speech's."
    assert new.name == "alice later"  # its month is open
    assert apportion.verify(project).findings == ()
