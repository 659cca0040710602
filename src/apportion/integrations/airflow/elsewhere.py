"""The same work in another environment: its own Python with its own apportion, asked in JSON."""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace

from apportion.errors import ProjectError
from apportion.integrations.airflow.work import Answer, Request, Tell

Started = Callable[["subprocess.Popen[str]"], object]


def answer_elsewhere(python: str, request: Request, tell: Tell, started: Started) -> Answer:
    """`started` gets the process, so that whoever ends the task can end it. Secrets go by its environment, not by its command."""
    wish = json.dumps(asdict(replace(request, environment={})))
    with tempfile.TemporaryFile("w+", encoding="utf-8") as asked, tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        asked.write(wish)
        asked.seek(0)
        last = ""
        with process_of(python, request, asked.fileno(), out.fileno()) as process:
            started(process)
            for line in process.stderr or ():
                last = line.rstrip() or last
                tell(line.rstrip())
        if process.returncode != 0:
            return {"error": f"{python} ended with {process.returncode}: {last}", "passing": True}
        out.seek(0)
        found: Answer = json.load(out)
    return found


def process_of(python: str, request: Request, asked: int, out: int) -> "subprocess.Popen[str]":
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        return subprocess.Popen(  # noqa: S603  # the interpreter that the DAG's author names
            [python, "-m", "apportion.integrations.airflow.work"],
            env={**environment, **request.environment},
            stdin=asked,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise ProjectError(
            "no-command",
            f"{python} cannot be started: {error.strerror}",
            hint="`python` must be the interpreter of an environment that has apportion, such as /opt/apportion/bin/python",
        ) from error
