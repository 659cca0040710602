"""Search: exact before beginning before part, only what one may see, and straight to the one thing that is called so."""

import pytest

import apportion
from apportion.verbs.project import Project
from apportion.verbs.search import is_of
from tests.cli.tiny import edit, write_tiny
from tests.web import world
from tests.web.conftest import Clients, clients_of
from tests.web.reading import links


def hits(clients: Clients, role: str, text: str) -> list[tuple[str, str, str]]:
    (rows,) = (one["rows"] for one in clients(role).get("/search.json", params={"q": text}).json()["tables"])
    return [(row["kind"], row["called"], row["match"]) for row in rows]


def test_every_kind_is_found(clients: Clients, small: Project) -> None:
    entry = next(row for row in small.books.entries(team="vision").to_pylist())
    number = small.books.invoices()[0][2]
    for text, expected in (
        ("vision", ("team", "vision", "exact")),
        ("detect", ("project", "vision/detect", "exact")),
        ("vision/detect", ("project", "vision/detect", "exact")),
        ("ada", ("user", "ada", "exact")),
        ("gpus", ("pool", "gpus", "exact")),
        ("11003", ("run", "11003", "exact")),
        ("train-detect", ("run", "11003", "exact")),
        (str(entry["seq"]), ("posting", str(entry["seq"]), "exact")),
        (entry["hash"][:10], ("posting", str(entry["seq"]), "begins so")),
        (entry["hash"], ("posting", str(entry["seq"]), "exact")),
        (number, ("statement", number, "exact")),
        ("eval jobs", ("dispute", "1", "has it inside")),
    ):
        assert expected in hits(clients, "finance", text), text


def test_exact_comes_before_beginning_before_part(clients: Clients) -> None:
    order = ["exact", "begins so", "has it inside"]
    for text in ("1", "vision", "a", "110"):
        found = [order.index(match) for _, _, match in hits(clients, "finance", text)]
        assert found == sorted(found)
        assert found


def test_case_and_space_do_not_matter(clients: Clients) -> None:
    assert ("team", "vision", "exact") in hits(clients, "finance", "  VISION ")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("gpus", "/pools/gpus?period=2026-10"),
        ("11003", "/runs/11003?period=2026-10"),
        ("ada", "/users/ada?period=2026-10"),
        ("speech", "/teams/speech?period=2026-10"),
    ],
)
def test_the_one_thing_that_is_called_so_is_opened(clients: Clients, text: str, path: str) -> None:
    answer = clients("finance").get("/search", params={"q": text}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, path)


def test_several_things_are_listed_with_links(clients: Clients) -> None:
    text = clients("finance").get("/search?q=train-detect").text
    found = dict(links(text))
    assert found["11003"] == "/runs/11003?period=2026-10"
    assert "things match “train-detect”." in text


def test_what_is_another_s_is_neither_found_nor_counted(clients: Clients, small: Project) -> None:
    entry = next(row for row in small.books.entries(team="zebra").to_pylist())
    numbers = [number for _, team, number in small.books.invoices() if team == "zebra"]
    asked = [
        "zebra",
        "zeb",
        "halcyon",
        "quagga",
        "zjob1003",
        "zjob",
        "zebra-data",
        "train-halcyon",
        entry["hash"][:12],
        *numbers,
        "moved away",
    ]
    for role in ("viewer", "lead"):
        for text in asked:
            page = clients(role).get("/search.json", params={"q": text}).json()
            nothing = clients(role).get("/search.json", params={"q": "nosuchthing"}).json()
            assert page["counts"] == nothing["counts"] == {}, (text, page)
            assert page["title"].replace(text, "nosuchthing") == nothing["title"]
            assert page["tables"] == nothing["tables"]
        assert "posting" not in clients(role).get("/search.json", params={"q": entry["seq"]}).json()["counts"]
    assert numbers
    assert all(hits(clients, "finance", text) for text in asked)


def test_counts_are_of_what_one_sees(clients: Clients) -> None:
    own = [f"1{month[-2:]}{day:02}" for month in world.MONTHS for day in range(1, 15, 2)]
    assert clients("viewer").get("/search.json?q=train-").json()["counts"] == {"run": len(own)}
    every = clients("finance").get("/search.json?q=train-").json()
    assert every["counts"] == {"run": 4 * len(own)}
    assert len(every["tables"][0]["rows"]) == 20
    assert "84 runs, the first 20 are shown" in clients("finance").get("/search?q=train-").text


def test_no_secret_in_any_answer(clients: Clients) -> None:
    for role in ("viewer", "lead", "nobody"):
        for text in ("a", "e", "1", "9", "s", "o", "-", "0", "train"):
            for form in ("", ".json", ".csv"):
                said = clients(role).get(f"/search{form}", params={"q": text}).text
                assert not [word for word in world.SECRET if word in said]


def test_nothing_asked_and_too_much_asked(clients: Clients) -> None:
    assert "What are you looking for?" in clients("viewer").get("/search").text
    for text in ("x" * 5000, "%", "_", "\\", "'", "9" * 60, "\u0000", "<script>"):
        answer = clients("viewer").get("/search", params={"q": text})
        assert answer.status_code == 200
        assert "<script>" not in answer.text.replace('<script type="', "")


def test_paths_that_could_be_of_two_teams_are_of_both() -> None:
    assert is_of("a/b/c", {"a"}, ["a", "x"])
    assert not is_of("a/b/c", {"a"}, ["a", "a/b"])
    assert is_of("a/b/c", {"a", "a/b"}, ["a", "a/b"])
    assert not is_of("ab", {"a"}, ["a", "ab"])
    assert not is_of("x", {"a"}, ["a", "x"])


@pytest.fixture(scope="module")
def two_clusters(tmp_path_factory: pytest.TempPathFactory) -> Clients:
    """Job 99035 of one is vision's, that of the other is speech's."""
    folder = write_tiny(tmp_path_factory.mktemp("clusters") / "project")
    for old, cluster in (("j1,j1,", "east"), ("j2.1,j2,", "west"), ("j2.2,j2,", "west")):
        edit(folder / "usage/jobs.csv", old, f"slurm/{cluster}/99035@{old.split(',')[0]},slurm/{cluster}/99035,")
    project = apportion.open_project(folder)
    apportion.ingest(project)
    apportion.plan(project, "2026-10")
    apportion.apply(project, "2026-10")
    return clients_of(folder)


@pytest.mark.parametrize(
    ("role", "mine", "other"), [("viewer", "east", "west"), ("lead", "west", "east")], ids=["vision", "speech"]
)
def test_a_schedulers_id_is_the_job_that_one_may_see(two_clusters: Clients, role: str, mine: str, other: str) -> None:
    client = two_clusters(role)
    opened = client.get("/search", params={"q": "99035"}, follow_redirects=False)
    assert opened.headers["location"] == f"/runs/slurm%2F{mine}%2F99035?period=2026-10"
    for path in ("/explain?what=99035&period=2026-10", "/explain?what=job:99035&period=2026-10", "/runs/99035"):
        page = client.get(path)
        assert page.status_code == 200
        assert f"slurm/{mine}/99035" in page.text
        assert f"slurm/{other}/99035" not in page.text


def test_a_dispute_is_about_the_job_that_one_may_see(two_clusters: Clients) -> None:
    doubt = {"period": "2026-10", "what": "99035", "why": "too much"}
    made = two_clusters("lead").post("/api/v1/disputes", json=doubt, headers={"Origin": "http://127.0.0.1"})
    assert (made.status_code, made.json().get("name")) == (201, "slurm/west/99035"), made.text


def test_whoever_sees_several_is_told_of_them(two_clusters: Clients) -> None:
    client = two_clusters("finance")
    assert hits(two_clusters, "finance", "99035")[:2] == [
        ("run", f"slurm/{cluster}/99035", "exact") for cluster in ("east", "west")
    ]
    refused = client.get("/explain?what=99035&period=2026-10")
    assert refused.status_code == 409
    assert "slurm/east/99035" in refused.text
