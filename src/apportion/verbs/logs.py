"""What the program says on stderr while nobody watches: an event a line, for people or as JSON.

An event has a name and fields; both are ours, so that no secret, no query and no word of an unexpected failure gets into them.
"""

import json
import logging
import os
import sys
import traceback
from datetime import UTC, datetime

from apportion.errors import ProjectError
from apportion.verbs import traces

VARIABLE = "APPORTION_LOG"
TEXT, JSON = "text", "json"
FORMS = (TEXT, JSON)
LOG = logging.getLogger("apportion")
FIELDS, FRAMES = "fields", 8
_begun: list[str] = []


def event(name: str, level: int = logging.INFO, **fields: object) -> None:
    """Said where somebody asked for a log; a command that answers for itself needs none."""
    if form():
        LOG.log(level, "%s", name, extra={FIELDS: fields})


def chosen(asked: str | None) -> str:
    """What was asked for, else what the environment says; empty where neither does."""
    wanted = asked or os.environ.get(VARIABLE, "")
    if wanted and wanted not in FORMS:
        raise ProjectError("invalid-setting", f"{VARIABLE} cannot be {wanted!r}", hint="json or text")
    return wanted


def start(wanted: str) -> None:
    """From here on, for all loggers of the process. The environment tells processes that it starts."""
    os.environ[VARIABLE] = wanted
    _begun[:] = [wanted]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if wanted == JSON else TextLines())
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    LOG.setLevel(logging.INFO)
    logging.captureWarnings(capture=True)


def form() -> str:
    """In which the log is written; empty where there is none."""
    return "".join(_begun)


def moment_of(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def failure_of(record: logging.LogRecord) -> dict[str, object]:
    """Kind and place of an unexpected failure; its words may hold what is nobody's business."""
    if not record.exc_info or record.exc_info[0] is None:
        return {}
    frames = traceback.extract_tb(record.exc_info[2])[-FRAMES:]
    places = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    return {"exception": record.exc_info[0].__name__, "places": places}


class JsonLines(logging.Formatter):
    """One object a line: time, level, event, logger, the event's fields, and the span that it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        said = {
            "time": moment_of(record),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
            **getattr(record, FIELDS, {}),
            **failure_of(record),
        }
        span = traces.current()
        if span is not None:
            said |= {"trace_id": span.trace_id, "span_id": span.span_id}
        return json.dumps(said, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = {**getattr(record, FIELDS, {}), **failure_of(record)}
        told = ", ".join(f"{name} {value}" for name, value in fields.items() if value not in ("", None))
        return f"{moment_of(record)} {record.levelname.lower()} {record.getMessage()}{': ' if told else ''}{told}"
