"""From sacct's own output to a showback per account: four commands, no YAML."""

import random
import tomllib
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run

__all__ = ["run"]
START = datetime(2026, 10, 1, tzinfo=UTC)
HEAD = (
    "JobIDRaw|JobID|Cluster|User|Account|QOS|Partition|Submit|Start|End|ElapsedRaw|Suspended|State|NodeList|AllocTRES"
)
HOURLY = {"a100": Fraction("1.85"), "h100": Fraction("3.10")}
CORE = Fraction(146, 10) / 730
PRICES = "GPU model,meter,price,per,currency\nA100,GPU,1.85,hour,EUR\nH100,GPU,3.10,hour,EUR\n,core,14.60,month,EUR\n"


def schedule(seed: int) -> tuple[str, dict[str, Fraction]]:
    """What sacct would print, and what each account owes by the prices."""
    dice = random.Random(seed)
    lines = [HEAD]
    owed: Counter[str] = Counter()
    for job in range(1, 81):
        account, model = dice.choice(["vision", "speech", "bio", "root"]), dice.choice(["a100", "h100", ""])
        start = START + timedelta(seconds=dice.randint(0, 1_500_000))
        seconds, gpus, cores = dice.randint(60, 300_000), dice.randint(1, 8), dice.randint(1, 64)
        tres = (
            f"billing={cores},cpu={cores},"
            + (f"gres/gpu:{model}={gpus},gres/gpu={gpus}," if model else "")
            + "mem=64G,node=1"
        )
        times = [
            one.strftime("%Y-%m-%dT%H:%M:%S")
            for one in (start - timedelta(seconds=9), start, start + timedelta(seconds=seconds))
        ]
        cells = [
            job,
            job,
            "lab",
            "ann",
            account,
            "normal",
            model or "cpu",
            *times,
            seconds,
            "00:00:00",
            "COMPLETED",
            f"n{job % 5}",
            tres,
        ]
        lines.append("|".join(map(str, cells)))
        hourly = (HOURLY[model] * gpus if model else 0) + CORE * cores
        owed[account] += hourly * seconds / 3600  # type: ignore[assignment]  # exact
    return "\n".join(lines) + "\n", {name: Fraction(amount) for name, amount in owed.items()}


@pytest.mark.parametrize("seed", [91])
def test_from_sacct_to_a_showback_in_four_commands(
    seed: int, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, owed = schedule(seed)
    (tmp_path / "sacct.txt").write_text(log, "utf-8")
    (tmp_path / "prices.csv").write_text(PRICES, "utf-8")
    monkeypatch.chdir(tmp_path)
    begun = run("init", "--slurm", "sacct.txt", "--prices", "prices.csv", "-o", "json")
    assert begun.code == 0, begun.err
    assert begun.value()["unmapped"] == ["root"]
    assert "Next: apportion plan" in begun.err
    assert [run(verb).code for verb in ("plan", "apply")] == [0, 0]
    report = run("report", "showback", "-o", "json").value()
    found = {row["owner"]: Fraction(Decimal(row["amount"])) for row in report["rows"]}
    owed["_unallocated"] = owed.pop("root")
    assert set(found) - {"_residual"} == set(owed)
    for name, amount in owed.items():
        assert abs(found[name] - amount) < Fraction(1, 100), name
    assert run("check").code == 0


def test_the_stanza_that_asks_slurm_itself(run: Run, tmp_path: Path) -> None:
    assert run("init", tmp_path, "--with", "slurm").code == 0
    (source,) = tomllib.loads((tmp_path / "apportion.toml").read_text("utf-8"))["sources"]
    assert (source["kind"], "path" in source) == ("slurm", False)
