"""Running a quota command and keeping what it printed, named by the end of the window for which it was asked."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from apportion.errors import ProjectError
from apportion.model.times import Interval, instant_text
from apportion.sources.files.paths import GLOB
from apportion.sources.live import Sign
from apportion.sources.storage.forms.detect import parse_text
from apportion.sources.storage.held import HOUR_S, Report
from apportion.sources.storage.report import Said
from apportion.sources.storage.settings import How

RECENT_S = 900


def is_now(window: Interval) -> bool:
    """Only of what has just ended can the command tell; this is why the clock is looked at."""
    return int(time.time()) - window.end_s < RECENT_S


def ask(how: How, base: Path, at_s: int) -> Path:
    """Kept whole or not at all: a command that fails, or prints no report, leaves no file that would read as `nobody holds anything`."""
    folder = (base / how.path).resolve()
    if not folder.is_relative_to(base.resolve()) or GLOB & set(how.path):
        raise ProjectError(
            "invalid-setting",
            f"keep must be a folder inside the project, not {how.path!r}",
            where=how.where,
            hint='such as keep = "storage/scratch"',
        )
    text = how.shell.run(how.command).decode("utf-8", "replace")
    parse_text(Said(f"what {how.command[0]} printed", text, how.volume, how.by))
    folder.mkdir(parents=True, exist_ok=True)
    stamp = instant_text(at_s).replace(":", "").replace("-", "")
    name = f"{how.source}-{stamp}{'.json' if text.lstrip().startswith('{') else '.txt'}"
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
    count = f"{len(reports)} report{'s' if len(reports) > 1 else ''}"
    text = f"{count} of {', '.join(sorted(volumes)) or 'sizes alone'}; the newest is of {instant_text(newest)}"
    if age_h * HOUR_S <= how.patience.hold_s:
        return Sign("ok", text)
    mend = "apportion ingest" if how.command else f"save a new report to {how.path}"
    return Sign("note", f"{text}, {age_h} h ago", mend)
