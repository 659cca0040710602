"""What each extra adds to an install, in megabytes and in time to import, as a page of the reference.

`make extras` measures here and now and writes docs/reference/extras.md.
"""

import platform
import resource
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests import processes
from tests.release.parts import CORE, ELSEWHERE, PROJECT, ROOT, added, extras, size

PAGE = ROOT / "docs/reference/extras.md"
MB = 1_000_000
TRIES = 3
IMPORTS = {  # by extra: what a verb imports first of it, and what it is for
    "postgres": ("psycopg", "books in PostgreSQL"),
    "spark": ("pyspark.sql", "plans calculated on Spark"),
    "kubernetes": ("kubernetes.client", "pods and nodes from the API server; quotas of Kubernetes"),
    "datadog": ("datadog_api_client", "usage from Datadog"),
    "agent": ("pynvml", "the agent on a node with NVIDIA GPUs"),
    "keyring": ("keyring", "secrets from the system's keyring"),
    "aws": ("boto3", "Cost Explorer"),
    "google": ("google.cloud.bigquery", "Google Cloud bills from BigQuery"),
    "pdf": ("typst", "statements as PDF"),
    "web": ("fastapi", "pages and REST API"),
    "metrics": ("prometheus_client", "metrics for Prometheus"),
    "otel": ("opentelemetry.sdk.trace", "traces of `sync` and of the server"),
    "excel": ("xlsxwriter", "workbooks"),
    "tableau": ("pantab", "extracts for Tableau"),
    "mcp": ("mcp", "read verbs as tools of an assistant"),
    "notebook": ("vl_convert", "charts of answers, drawn in a notebook"),
}
HEAD = """\
# Extras

The core reads sources, calculates, posts, closes, reports and exports. What not everybody needs is an extra: `pip install "apportion[web,pdf]"`.
A verb that needs one which is not installed says so and names it. Nothing of an extra, and nothing large of the core, is imported before a verb
needs it: `apportion --help` imports neither.

"""
FOOT = """
Sizes are those of the files that the locked wheels install, without what Python compiles; an extra counts what the core does not bring already.
Times are processor time of the quickest of three imports, each in a process of its own, beyond what Python takes to start. `make extras` measures
them anew.

The extra `airflow` is not measured: Airflow has an environment of its own.
"""


def import_ms(statement: str) -> int:
    """The quickest of some tries, less what Python takes to start."""
    return max(0, quickest(statement) - quickest("pass"))


def quickest(statement: str) -> int:
    took = []
    for _ in range(TRIES):
        before = worked_s()
        processes.run([sys.executable, "-W", "ignore", "-c", statement], check=True)
        took.append(worked_s() - before)
    return round(min(took) * 1000)


def worked_s() -> float:
    """Processor time, which other people's work on this machine does not lengthen much."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def rows() -> Iterator[str]:
    yield "| extra | for | packages | MB | ms to import |"
    yield "|---|---|---:|---:|---:|"
    core = added(CORE)
    yield f"| (core) | `apportion --help` | {len(core)} | {size(core) / MB:.0f} | {import_ms('import apportion.cli.main')} |"
    for extra in extras():
        module, use = IMPORTS[extra]
        found = added(extra)
        yield f"| `{extra}` | {use} | {len(found)} | {size(found) / MB:.1f} | {import_ms(f'import {module}')} |"


def page() -> str:
    today = datetime.now(UTC).date().isoformat()
    where = f"{PROJECT['name']} {PROJECT['version']}, Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    return "\n".join([HEAD + f"As measured on {today} ({where}):\n", *rows(), FOOT])


def told(path: Path = PAGE) -> dict[str, float]:
    """The megabytes that the page says, by extra."""
    cells = [line.strip("| ").split(" | ") for line in path.read_text("utf-8").splitlines() if line.startswith("| ")]
    return {name.strip("`()"): float(megabytes) for name, _, _, megabytes, _ in cells[1:]}


if __name__ == "__main__":
    assert set(IMPORTS) == set(extras())
    assert set(PROJECT["optional-dependencies"]) == {*IMPORTS, *ELSEWHERE}
    PAGE.write_text(page(), "utf-8")
    print(PAGE.relative_to(ROOT))
