"""What if the policy were another: the books' own figures under their own policy, and under another what a plan would post."""

import stat
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.errors import ApportionError, BooksError, PolicyError
from apportion.policy.edit import NewOwner
from apportion.reports.sums import grouped, total
from apportion.verbs.draft import owner_edit, policy_text, setting_edit
from apportion.verbs.minor_units import read_believed, read_posted
from apportion.verbs.project import Project
from tests.web import world
from tests.web.conftest import Clients, clients_of
from tests.web.forms import sent

IDLE = "/what-if?period=2026-10&pool=gpus&idle=proportional"


@pytest.fixture(scope="module")
def evened(small: Project) -> str:
    return setting_edit(small, [(("pools", "gpus", "idle"), "proportional")]).text


@pytest.mark.parametrize("month", world.BILLED)
def test_under_its_own_policy_a_month_comes_to_what_is_posted(small: Project, month: str) -> None:
    before = small.books.state()
    made = apportion.whatif(small, month, policy_text(small))
    assert made.posted
    assert not made.clauses
    assert not [row for row in made.rows if row.change or row.sign != " "]
    posted = grouped(read_believed(small, month), ("team",))
    assert {row.owner: row.after for row in made.rows} == {team: amount for (team,), amount in posted.items()}
    assert small.books.state() == before


def test_a_running_month_is_set_against_its_own_plan(small: Project) -> None:
    with pytest.raises(ApportionError) as told:
        apportion.whatif(small, "2026-11", policy_text(small))
    assert told.value.code == "nothing-to-plan"  # its bill is still to come


def test_under_another_policy_it_says_what_a_plan_would_post(small: Project, evened: str, tmp_path: Path) -> None:
    made = apportion.whatif(small, "2026-10", evened)
    assert total(row.change for row in made.rows) == 0
    (clause,) = made.clauses
    assert clause.endswith("down: central} to proportional; restates figures since 2026-01-01")
    other = world.copied(small, tmp_path / "other")
    other = apportion.open_project(other.folder)
    apportion.adopt(other, apportion.propose(other, evened, "shared idle").number)
    planned = apportion.plan(apportion.open_project(other.folder), "2026-10")
    assert {(row.owner, row.before, row.after) for row in planned.rows} == {
        (row.owner, row.before, row.after) for row in made.rows
    }


def test_an_owner_rule_moves_what_nobody_owned(small: Project) -> None:
    edited = owner_edit(small, NewOwner("slurm.account", "odd-*", "vision"))
    made = apportion.whatif(small, "2026-10", edited.text)
    rows = {row.owner: row for row in made.rows}
    posted = grouped(read_posted(small, "2026-10"), ("team", "cause"))
    assert rows["_unallocated"].change == -posted["_unallocated", "no owner"]
    assert not rows["_unallocated"].after


def test_the_page_says_the_same_as_the_verb(clients: Clients, small: Project, evened: str) -> None:
    made = apportion.whatif(small, "2026-10", evened)
    answer = clients("finance").get(IDLE.replace("?", ".json?")).json()
    assert made.title[1:] in answer["title"]
    rows = {row["owner"]: (Decimal(row["before"]), Decimal(row["after"])) for row in answer["tables"][0]["rows"]}
    assert rows == {row.owner: (row.before, row.after) for row in made.rows if row.sign != " "}
    text = clients("finance").get(IDLE).text
    assert "/explain?period=2026-10&amp;what=speech" in text
    assert "<code>-    idle: {unsold: central" in text


def test_a_method_that_does_not_fit_is_told_with_its_place(clients: Clients) -> None:
    text = clients("admin").get("/what-if?pool=gpus&method=fixed").text
    assert "the method fixed needs shares" in text
    assert "policy.yaml:20:5" in text
    assert clients("admin").get("/what-if?pool=nothing&idle=even").status_code == 200


@pytest.mark.parametrize("role", ["lead", "viewer", "nobody"])
def test_who_may_not_see_all_teams_may_not_ask(clients: Clients, role: str) -> None:
    client = clients(role)
    for path in (IDLE, "/what-if?draft=1", "/health", "/policy/diff", f"/policy/{'0' * 12}", "/health/owner"):
        answer = client.get(path)
        assert answer.status_code == 403
        assert not [word for word in world.SECRET if word in answer.text]


def test_a_change_is_proposed_looked_at_and_adopted(small: Project, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    file = own.folder / "policy.yaml"
    file.write_bytes(file.read_bytes() + b"# the end\r\n")
    file.chmod(0o640)
    clients = clients_of(own.folder)
    finance, admin = clients("finance"), clients("admin")
    saved = sent(finance, IDLE, "/drafts/setting", pool="gpus", idle="proportional", why="idle is everybody's")
    assert saved.status_code == 303
    path = saved.headers["location"]
    page = admin.get(path).text
    assert "idle is everybody&#39;s" in page
    assert "<code>+    idle: proportional</code>" in page
    assert sent(finance, path, f"{path}/adopt").status_code == 403
    assert sent(admin, path, f"{path}/adopt").headers["location"] == "/policy"
    assert file.read_bytes().endswith(b"# the end\r\n")
    assert b"idle: proportional" in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert sorted(path.name for path in own.folder.iterdir() if path.name.startswith(".policy")) == []
    notes = [(note.who, note.detail.partition(",")[0], note.why) for note in own.books.audit() if note.what == "draft"]
    number, why = path.removeprefix("/drafts/"), "idle is everybody's"
    assert notes[-2:] == [("fin", f"{number} proposed", why), ("root", f"{number} adopted", why)]
    assert sent(admin, "/drafts", f"{path}/drop").status_code == 409
    assert own.books.head() == small.books.head()


def test_a_draft_is_adopted_only_onto_what_it_was_drawn_up_from(small: Project, evened: str, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    file = own.folder / "policy.yaml"
    number = apportion.propose(own, evened, "shared idle").number
    file.write_text(file.read_text("utf-8") + "# a remark\n", "utf-8")
    before = file.read_bytes()
    with pytest.raises(PolicyError) as told:
        apportion.adopt(own, number)
    assert told.value.code == "draft-outdated"
    assert file.read_bytes() == before
    assert apportion.draft(own, number).status == "open"
    assert apportion.drop(own, number, "another came first").status == "dropped"
    with pytest.raises(BooksError) as ended:
        apportion.adopt(own, number)
    assert ended.value.code == "draft-ended"


def test_what_is_no_policy_or_no_change_or_has_no_reason_is_no_draft(small: Project, evened: str) -> None:
    before = small.books.state()
    for text, why, code in (
        (evened.replace("capacity_rate", "magic"), "why not", "policy-value"),
        (policy_text(small), "the same", "same-policy"),
        (evened, "  ", "no-reason"),
    ):
        with pytest.raises(ApportionError) as told:
            apportion.propose(small, text, why)
        assert told.value.code == code
    assert small.books.state() == before


def test_a_wrong_text_is_told_with_its_line(small: Project, evened: str, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    answer = sent(
        clients_of(own.folder)("finance"),
        "/drafts",
        "/drafts/text",
        text=evened.replace("capacity_rate", "magic"),
        why="x",
    )
    assert answer.status_code == 422
    assert "policy.yaml:23:13: there is no method &#39;magic&#39;" in answer.text
    assert apportion.drafts(own) == apportion.drafts(small)


def test_a_lead_proposes_for_their_own_team_and_sees_no_other_draft(
    small: Project, evened: str, tmp_path: Path
) -> None:
    own = world.copied(small, tmp_path / "own")
    others = apportion.propose(own, evened, "halcyon moved").number
    lead = clients_of(own.folder)("lead")
    fields = {"label": "slurm.account", "value": "odd-*", "team": "speech", "why": "ours"}
    assert sent(lead, "/drafts", "/drafts/owner", **{**fields, "team": "zebra"}).status_code == 404
    assert sent(lead, "/drafts", "/drafts/owner", **{**fields, "team": "nobody"}).status_code == 404
    assert sent(lead, "/drafts", "/drafts/text", text=evened, why="x").status_code == 403
    wrong = sent(lead, "/drafts", "/drafts/owner", **{**fields, "project": "{open"})
    assert (wrong.status_code, "known" in wrong.text) == (422, False)
    mine = sent(lead, "/drafts", "/drafts/owner", **fields).headers["location"]
    texts = [lead.get(path).text for path in ("/drafts", mine, "/drafts.json", f"{mine}.json")]
    assert all("ours: {when: {slurm.account:" in text.replace("&#34;", '"').replace('\\"', '"') for text in texts)
    assert not [word for text in texts for word in world.SECRET if word in text]
    foreign, absent = lead.get(f"/drafts/{others}"), lead.get("/drafts/77")
    assert (foreign.status_code, foreign.text) == (absent.status_code, absent.text)
    assert sent(lead, mine, f"{mine}/drop", why="no").status_code == 303
    assert sent(lead, "/drafts", f"/drafts/{others}/drop").status_code == 404
    assert [one.status for one in apportion.drafts(own)][-2:] == ["open", "dropped"]
