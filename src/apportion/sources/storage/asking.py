"""Running a quota command and keeping what it printed, named by the second at which it was asked."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from apportion.errors import ProjectError
from apportion.model.times import instant_text
from apportion.sources.live import Sign
from apportion.sources.storage.held import HOUR_S, Report
from apportion.sources.storage.settings import How


def ask(how: How, base: Path) -> Path:
    """The report is written whole or not at all: a command that fails leaves no file that would read as `nobody holds anything`."""
    folder = (base / how.path).resolve()
    if not folder.is_relative_to(base.resolve()) or folder.suffix or "*" in how.path:
        raise ProjectError(
            "invalid-setting",
            f"with a command, path must be a folder inside the project, not {how.path!r}",
            where=how.where,
            hint='such as path = "storage/scratch"',
        )
    at = instant_text(int(time.time()))
    text = how.shell.run(how.command).decode("utf-8", "replace")
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{how.source}-{at.replace(':', '').replace('-', '')}{'.json' if text.lstrip().startswith('{') else '.txt'}"
    draft = folder / f".{name}.draft"
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return draft.rename(folder / name)


def newest_sign(reports: Sequence[Report], how: How) -> Sign:
    """Probing is about now, so it looks at the clock."""
    newest = max(report.at_s for report in reports)
    age_h = (int(time.time()) - newest) // HOUR_S
    volumes = {part.volume for report in reports for part in report.parts}
    text = f"{len(reports)} reports of {', '.join(sorted(volumes)) or 'sizes alone'}; the newest is of {instant_text(newest)}"
    if age_h * HOUR_S <= how.patience.hold_s:
        return Sign("ok", text)
    mend = "apportion ingest" if how.command else f"save a new report to {how.path}"
    return Sign("note", f"{text}, {age_h} h ago", mend)
