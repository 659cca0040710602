"""A project with a quota that Slurm is told of: vision held 48 GPU-hours on 2026-10-01 (tests/cli/tiny.py)."""

from datetime import date
from pathlib import Path

import apportion
from apportion.verbs.project import Project
from tests.cli.tiny import write_tiny

TODAY = date(2026, 10, 20)
HELD = 48


def make(folder: Path) -> Project:
    write_tiny(folder)
    policy = folder / "policy.yaml"
    text = policy.read_text("utf-8")
    rule = '  - {when: {slurm.account: "vis-*"}, team: vision}\n'
    policy.write_text(text.replace("owners:\n", f"owners:\n{rule}"), "utf-8")
    project = with_quota(folder, "48.5")
    apportion.ingest(project)
    return project


def with_quota(folder: Path, hours: str, warn: str = "[80, 200]", more: str = "") -> Project:
    """As if somebody had edited the policy."""
    policy = folder / "policy.yaml"
    head, _, _ = policy.read_text("utf-8").partition("quotas:")
    line = f"  - {{team: vision, meter: gpu, hours: {hours}, per: month, warn: {warn}, enforce: slurm}}\n"
    policy.write_text(f"{head}quotas:\n{line}{more}", "utf-8")
    return apportion.open_project(folder)
