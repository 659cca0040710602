"""From accounting and a price list to a showback per account, in four commands and without a line of YAML."""

import random
import tomllib
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import ApportionError, ProjectError
from apportion.model.times import Interval
from apportion.policy.load import load_policy
from apportion.sources import registry
from apportion.sources.live import WHEN
from apportion.verbs import starting
from apportion.verbs.init import Wishes
from apportion.verbs.project import open_project
from apportion.verbs.starting import Accounting, Begun, from_accounting
from tests.cli.conftest import Run, run
from tests.cli.tiny import BILL

__all__ = ["run"]
START = datetime(2026, 10, 1, tzinfo=UTC)
MODELS = {"gpu-a": "a100", "gpu-h": "nvidia_h100_80gb_hbm3", "debug": "t4"}
HOURLY = {"a100": Fraction("1.85"), "nvidia_h100_80gb_hbm3": Fraction("3.10"), "t4": Fraction(73, 730)}
PRICES = (
    "GPU model;Price;per;Currency\nH100;3,10;hour;EUR\nA100;1,85;GPU-hour;EUR\nT4;73,00;month;EUR\nMI300X;9;hour;EUR\n"
)
STANZA: dict[str, Any] = {
    "kind": "usage",
    "columns": {"workload": "JobID", "resource": "NodeList", "start": "Start", "end": "End", "outcome": "State"},
    "meters": {"gpu": "gpus"},
    "labels": {"slurm.account": "Account", "slurm.user": "User", "slurm.partition": "Partition", "gpu.model": "model"},
    "delimiter": "|",
}


def schedule(seed: int) -> tuple[str, Counter[str]]:
    """A log of accounting, and what each account owes by the price list."""
    dice = random.Random(seed)
    lines = ["JobID|NodeList|Start|End|State|gpus|Account|User|Partition|model"]
    owed: Counter[str] = Counter()
    for number in range(200):
        account = dice.choice(["vision", "speech", "bio lab", "no", "root", ""])
        partition = dice.choice(list(MODELS))
        start = START + timedelta(seconds=dice.randint(0, 2_000_000))
        seconds, gpus = dice.randint(1, 400_000), dice.randint(1, 8)
        end = start + timedelta(seconds=seconds)
        cells = [number, f"n{number % 7}", *(one.strftime("%Y-%m-%dT%H:%M:%SZ") for one in (start, end)), "COMPLETED"]
        lines.append("|".join(map(str, [*cells, gpus, account, "ann", partition, MODELS[partition]])))
        owed[account] += HOURLY[MODELS[partition]] * gpus * seconds / 3600  # type: ignore[assignment]  # exact
    return "\n".join(lines) + "\n", owed


def begin(folder: Path, log: str, prices: str = PRICES, name: str = "prices.csv") -> Begun:
    folder.mkdir(exist_ok=True)
    (folder / "sacct.csv").write_text(log, "utf-8")
    (folder / name).write_text(prices, "utf-8")
    wishes = Wishes("mine", START.date(), "", "UTC")
    return from_accounting(folder / "project", wishes, Accounting(folder / "sacct.csv", folder / name, STANZA))


@pytest.mark.parametrize("seed", [31, 32])
def test_a_showback_per_account_in_four_commands(seed: int, run: Run, tmp_path: Path) -> None:
    log, owed = schedule(seed)
    done = begin(tmp_path, log)  # 1: init
    assert set(done.unmapped) == {"root", ""}
    project = tmp_path / "project"
    assert run("--project", project, "plan").code == 0  # 2
    assert run("--project", project, "apply").code == 0  # 3
    report = run("--project", project, "report", "showback", "-o", "json").value()  # 4
    assert report["currency"] == "EUR"
    found = {row["owner"]: Decimal(row["amount"]) for row in report["rows"]}
    expected = {name: amount for name, amount in owed.items() if name not in ("root", "")}
    expected["_unallocated"] = owed["root"] + owed[""]
    assert set(found) - {"_residual"} == set(expected)
    for name, amount in expected.items():
        assert abs(Fraction(found[name]) - amount) < Fraction(1, 100), name
    assert sum(found.values()) == Decimal(report["bill"])


def test_the_policy_reads_well_and_says_what_is_missing(tmp_path: Path) -> None:
    log, _ = schedule(33)
    done = begin(tmp_path, log)
    text = (tmp_path / "project/policy.yaml").read_text("utf-8")
    policy = load_policy(text)
    assert not policy.warnings
    assert set(policy.teams) == {"vision", "speech", "bio lab", "no"}
    assert '{when: {slurm.account: "no"}, team: "no"' in text  # not YAML's false
    assert "# whose is this? root:" in text
    assert [(one.per, one.price) for one in policy.pools["gpu"].prices][:3] == [
        ("hour", Fraction("3.10")), ("hour", Fraction("1.85")), ("hour", Fraction(1, 10)),
    ]  # fmt: skip
    notes = [one.text for one in done.findings if one.status == "note"]
    assert any(note.startswith("2 accounts without an owner: ") and "root" in note for note in notes)
    assert any("nothing ran on gpu.model 'MI300X'" in note for note in notes)


def test_work_without_a_price_is_said_before_it_is_free(tmp_path: Path) -> None:
    log, _ = schedule(34)
    done = begin(tmp_path, log, "partition,price per GPU hour (USD)\ngpu-a,2\nGPU-H,3.5\n")
    notes = [one.text for one in done.findings if one.status == "note"]
    assert any(note.startswith("no price for partition debug: ") for note in notes)
    assert not any("gpu-h" in note for note in notes)


def test_one_price_for_all_needs_no_label(tmp_path: Path) -> None:
    log, _ = schedule(37)
    done = begin(tmp_path, log, "item,price\nGPU hour,2\n")
    assert [one.what for one in done.findings if one.status == "note"] == ["unmapped"]
    assert load_policy((tmp_path / "project/policy.yaml").read_text("utf-8")).currency == "USD"


def test_a_second_beginning_changes_nothing(run: Run, tmp_path: Path) -> None:
    log, _ = schedule(35)
    begin(tmp_path, log)
    before = {path.name: path.read_bytes() for path in (tmp_path / "project").glob("*.*") if path.is_file()}
    with pytest.raises(ApportionError) as refused:
        begin(tmp_path, log)
    assert refused.value.code == "project-exists"
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "project").glob("*.*") if path.is_file()}


def test_a_wrong_price_list_leaves_no_project(tmp_path: Path) -> None:
    log, _ = schedule(36)
    with pytest.raises(ApportionError) as refused:
        begin(tmp_path, log, "gpu,price\nA100,a lot\n")
    assert (refused.value.code, refused.value.where) == ("invalid-price", "prices.csv:2")
    assert not (tmp_path / "project").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--slurm", "x"], "it needs --prices beside it"),
        (["--bill", "x"], "it needs --prometheus beside it"),
        (["--slurm", "x", "--prices", "y", "--prometheus", "http://localhost", "--bill", "z"], "not with both"),
    ],
)
def test_half_a_beginning_is_wrong_usage(arguments: list[str], words: str, run: Run, tmp_path: Path) -> None:
    shown = run("init", tmp_path / "p", *arguments)
    assert (shown.code, words in shown.err) == (2, True)
    assert not (tmp_path / "p").exists()


def test_a_file_that_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    shown = run("init", tmp_path / "p", "--slurm", tmp_path / "no.txt", "--prices", tmp_path / "no.csv")
    assert shown.code == 1
    assert "there is no file" in shown.err
    assert not (tmp_path / "p").exists()


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> None:
    own = EntryPoint("prometheus", "tests.logs.cluster_source:source", registry.GROUP)
    others = [one for one in entry_points(group=registry.GROUP) if one.name != own.name]
    monkeypatch.setattr(registry, "entry_points", lambda **_: [own, *others])
    monkeypatch.setattr(starting, "find_clusters", lambda *_: [])  # the source that stands in tells of one cluster


def test_from_a_cluster_and_its_bill(run: Run, live: None, tmp_path: Path) -> None:
    bill = tmp_path / "october.csv"
    bill.write_text(BILL, "utf-8")
    given = ("--prometheus", "http://127.0.0.1:9090", "--bill", bill, "--token", "env:METRICS")
    shown = run("init", tmp_path / "p", *given, "-o", "json")
    assert shown.code == 0, shown.err
    assert f"Next: apportion --project {tmp_path / 'p'} ingest" in shown.err
    settings = tomllib.loads((tmp_path / "p/apportion.toml").read_text("utf-8"))["sources"]
    assert settings == [
        {"name": "bill", "kind": "focus", "path": "bills/october.csv"},
        {
            "name": "cluster",
            "kind": "prometheus",
            "url": "http://127.0.0.1:9090",
            "cluster": "p",
            "token": "env:METRICS",
            "since": "2026-10-01",
        },
    ]
    assert (tmp_path / "p/bills/october.csv").read_text("utf-8") == BILL
    policy = load_policy((tmp_path / "p/policy.yaml").read_text("utf-8"))
    assert (policy.currency, list(policy.pools)) == ("USD", ["compute", "rest"])
    said = {finding["what"] for finding in shown.value()["findings"]}
    assert said == {"pools", "owners", "idle", "kube-state-metrics"}


def test_an_address_with_a_password_is_refused_unsaid(run: Run, tmp_path: Path) -> None:
    shown = run("init", tmp_path / "p", "--prometheus", "http://me:hunter2@127.0.0.1:9090", "--bill", tmp_path)
    assert (shown.code, "holds a name or a password" in shown.err, "hunter2" in shown.err) == (1, True, False)
    assert not (tmp_path / "p").exists()


def test_stanzas_are_written_on_request(run: Run, live: None, tmp_path: Path) -> None:
    assert run("init", tmp_path / "p", "--with", "prometheus").code == 0
    assert '[[sources]]\nname = "cluster"\nkind = "prometheus"\n' in (tmp_path / "p/apportion.toml").read_text("utf-8")
    refused = run("init", tmp_path / "q", "--with", "prometheus", "--with", "demo")
    assert (refused.code, refused.err.startswith("error[no-stanza]")) == (1, True)
    assert "prometheus" in refused.err
    assert "did you mean 'prometheus'?" in run("init", tmp_path / "q", "--with", "prometeus").err
    assert not (tmp_path / "q").exists()


@pytest.mark.parametrize("kind", sorted({*registry.source_kinds()} - {"demo"}))
def test_every_kind_has_a_stanza_that_it_understands(run: Run, kind: str, tmp_path: Path) -> None:
    """What it lacks may be a file or a server, never a setting that nobody knows."""
    assert run("init", tmp_path / "p", "--with", kind).code == 0
    (source,) = open_project(tmp_path / "p").settings.sources
    assert source.kind == kind
    settings = {key: value for key, value in source.settings.items() if key not in WHEN}
    told = registry.reader(registry.source_named(kind))({**settings, "#": "not a setting"}, tmp_path, Interval(0, 1))
    with pytest.raises(ProjectError) as refused:
        list(told)
    assert (refused.value.code, "'#'" in refused.value.message) == ("unknown-setting", True)
