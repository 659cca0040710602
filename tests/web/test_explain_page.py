"""The page that explains a figure: what the verb says, drawn and in sentences; one's own alone; and a month that is computed once for all who ask."""

import threading
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import apportion
from apportion.verbs.dispute import Settlement
from apportion.verbs.plan import Computed, compute
from apportion.verbs.project import Project
from apportion.web import bench, warm
from apportion.web.app import create_app
from apportion.web.desk import Desk
from tests.web import world
from tests.web.conftest import OUR_HOST, Clients, clients_of

MONTH = "2026-10"


def seq_of(project: Project, team: str) -> int:
    return int(project.books.entries(period=MONTH, account=f"team:{team}")["seq"][0].as_py())


@pytest.mark.parametrize("what", ["vision", "team:speech", "_idle", "pool:gpus", "job:11001", "posting"])
def test_the_page_says_what_the_verb_says(clients: Clients, small: Project, what: str) -> None:
    what = f"posting:{seq_of(small, 'vision')}" if what == "posting" else what
    found = apportion.explain(small, what, MONTH)
    page = clients("admin").get(f"/explain.json?what={what}&period={MONTH}").json()
    assert page["title"] == found.title
    assert [branch["text"] for branch in page["trees"][0]] == [node.text for node in found.steps]
    text = clients("admin").get(f"/explain?what={what}&period={MONTH}").text
    assert f"apportion explain {what}" in text
    assert '<ol class="aloud">' in text


def test_sentences_go_from_the_figure_to_usage_and_rounding(clients: Clients) -> None:
    said = clients("admin").get(f"/explain.json?what=speech&period={MONTH}").json()["sentences"]
    assert "From pool gpus come 540.47 USD: usage 51.07, burst 306.39, idle 243.07 and adjustment -60.06." in said
    text = "\n".join(said)
    assert (
        "It is shared by capacity rate over gpu (allocated), one price per hour, as line 19 of policy.yaml says."
        in said
    )
    assert "62 cost lines come to 24,315.16 USD." in said
    assert (
        "The price per GPU-hour is 2.043 USD on average: 24,315.16 USD divided by 11,904.00 GPU-hours offered" in text
    )
    assert "The largest is 21001 on node-2, 2026-10-01T00:00:00Z to 2026-10-01T12:30:00Z: 25.00 GPU-hours." in said
    assert "Adjusted because of 'moved to nights', paid by platform, as line 28 of policy.yaml says." in said
    assert "by largest remainder" in said[-1]


def test_links_lead_to_pools_runs_and_lines_of_the_policy(clients: Clients) -> None:
    text = clients("finance").get(f"/explain?what=vision&period={MONTH}").text
    assert f'href="/pools/gpus?period={MONTH}"' in text
    assert f'href="/runs/11001?period={MONTH}"' in text
    assert "#L19" in text
    assert "#L19" not in clients("viewer").get(f"/explain?what=vision&period={MONTH}").text


def test_without_a_question_there_is_a_form(clients: Clients) -> None:
    text = clients("viewer").get("/explain").text
    assert "Which figure shall be explained?" in text
    assert 'name="what"' in text


def test_a_viewer_reads_their_own_and_no_word_of_another(clients: Clients, small: Project) -> None:
    own = ("vision", "team:vision", "pool:gpus", "disks", "job:11001", "11001", f"posting:{seq_of(small, 'vision')}")
    for what in own:
        for form in ("", ".json", ".csv"):
            answer = clients("viewer").get(f"/explain{form}?what={what}&period={MONTH}")
            assert answer.status_code == 200, (what, answer.text)
            assert not [word for word in world.SECRET if word in answer.text], what
            assert "speech" not in answer.text, what
    assert "124 cost lines" not in clients("viewer").get(f"/explain?what=vision&period={MONTH}").text


def test_what_is_not_theirs_is_not_there_and_nothing_is_computed(small: Project) -> None:
    clients = clients_of(small.folder)
    hashed = small.books.entries(period=MONTH, account="team:zebra")["hash"][0].as_py()
    foreign = (
        "zebra",
        "team:zebra",
        "_idle",
        "speech",
        "job:zjob1001",
        f"posting:{seq_of(small, 'zebra')}",
        hashed[:12],
    )
    missing = ("nothing", "team:nothing", "pool:nothing", "job:nothing", "posting:999999", "999999", "abcdef012345")
    answers = {clients("viewer").get(f"/explain?what={what}&period={MONTH}").text for what in (*foreign, *missing)}
    assert len(answers) == 1
    assert {clients("viewer").get(f"/explain?what={what}&period={MONTH}").status_code for what in foreign} == {404}
    assert not len(clients("viewer").app.state.desk.bench)  # type: ignore[attr-defined]


def test_what_others_decided_is_told_without_their_names(small: Project, tmp_path: Path) -> None:
    project = world.copied(small, tmp_path / "project")
    apportion.settle(project, 2, Settlement("reclassed", "halcyon is run by them", other="vision"))
    clients = clients_of(project.folder)
    for what in ("vision", "pool:gpus"):
        text = clients("viewer").get(f"/explain?what={what}&period={MONTH}").text
        assert not [word for word in world.SECRET if word in text]
    assert (
        "re-attributed from another team to vision"
        in clients("viewer").get(f"/explain?what=vision&period={MONTH}").text
    )
    whole = clients("admin").get(f"/explain?what=vision&period={MONTH}").text
    assert "re-attributed from zebra to vision" in whole


def test_a_quoted_line_never_names_others(small: Project, tmp_path: Path) -> None:
    """All owner rules on one line, which begins with that of vision."""
    project = world.copied(small, tmp_path / "project")
    file = project.folder / "policy.yaml"
    text = file.read_text("utf-8")
    start, end = text.index("owners:\n"), text.index("reservations:\n")
    rules = [line.strip().removeprefix("- ") for line in text[start:end].splitlines()[1:]]
    file.write_text(f"{text[:start]}owners: [{', '.join(rules)}]\n{text[end:]}", "utf-8")
    clients = clients_of(project.folder)
    assert "vis-*" in clients("admin").get(f"/explain?what=speech&period={MONTH}").text
    assert "vis-*" not in clients("lead").get(f"/explain?what=speech&period={MONTH}").text


def test_a_month_is_computed_once_however_many_ask(small: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[str] = []

    def counted(*asked: object) -> Computed:
        times.append(str(asked[1]))
        return compute(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(bench, "compute", counted)
    clients = clients_of(small.folder)
    paths = [f"/explain?what={what}&period={MONTH}" for what in ("vision", "speech", "zebra", "pool:gpus")]
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda path=path: found.append(clients("admin").get(path).status_code))
        for path in paths
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [200] * len(paths)
    assert clients("admin").get(f"/pools?period={MONTH}").status_code == 200
    assert times == [MONTH]


def test_the_newest_month_is_computed_ahead_and_again_only_when_something_was_posted(small: Project) -> None:
    desk = Desk(small.folder)
    head = warm.once(desk, "")
    assert len(desk.bench) == 1
    assert warm.once(desk, head) == head == small.books.head()


def test_a_server_warms_itself_and_lets_go_when_it_ends(small: Project) -> None:
    app = create_app(small.folder, warm=True)
    with TestClient(app, OUR_HOST) as client:
        assert client.get("/static/icon.svg").status_code == 200
        named = {thread.name for thread in threading.enumerate()}
    assert "warming" in named
