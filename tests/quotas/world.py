"""Quotas over the tiny project (tests/cli/tiny.py): on 2026-10-01 vision held 48 GPU-hours (job j1 of ann) and speech 48 (run j2 of bob)."""

import shutil
from datetime import date
from fractions import Fraction
from pathlib import Path

import apportion
from apportion.model.times import parse_instant
from apportion.verbs.project import Project
from tests.cli.tiny import edit

TODAY = date(2026, 10, 20)
NOW_S = parse_instant("2026-10-20T12:00:00Z")
HELD = Fraction(48)
VISION = "{team: vision, meter: gpu, hours: 100, per: month}"
SPEECH = "{team: speech, meter: gpu, hours: 60, per: month}"
YEAR = "{team: speech, meter: gpu, hours: 500, per: year}"


def opened(made: Path, folder: Path, *lines: str) -> Project:
    """A copy with these quotas."""
    shutil.copytree(made, folder)
    return with_quotas(folder, *lines)


def with_quotas(folder: Path, *lines: str) -> Project:
    policy = folder / "policy.yaml"
    head, _, _ = policy.read_text("utf-8").partition("quotas:")
    policy.write_text(head + "quotas:\n" + "".join(f"  - {line}\n" for line in lines), "utf-8")
    return apportion.open_project(folder)


def came(project: Project, *rows: str) -> Project:
    """More rows of usage/jobs.csv, taken in."""
    jobs = project.folder / "usage/jobs.csv"
    edit(jobs, "j1,j1", "\n".join([*rows, "j1,j1"]))
    apportion.ingest(project)
    return apportion.open_project(project.folder)
