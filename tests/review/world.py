"""Two months of a small organisation, fourteen days each: a quiet second month that is like the first, or one with everything planted.

What was planted is known here, as jobs; tests add it up themselves. `flat` is 8 L40S under one price for all, `mixed` are 4 A100 and 4 H100.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.cli.tiny import HEAD

DAYS = range(1, 15)
BEFORE, NOW = "2026-09", "2026-10"
MONTHS = {BEFORE: "2026-09-01T00:00:00Z,2026-10-01T00:00:00Z", NOW: "2026-10-01T00:00:00Z,2026-11-01T00:00:00Z"}
MODELS = {"n1": ("L40S", 8), "a1": ("A100", 4), "h1": ("H100", 4)}


@dataclass(frozen=True)
class Job:
    """Of one day: from hour to hour; `used` is the part of its GPUs that was busy."""

    account: str
    node: str
    gpus: int
    hours: tuple[int, int]
    used: float
    phase: str = "training"
    framework: str = "torch"
    outcome: str = "completed"

    @property
    def held(self) -> int:
        """GPU-hours."""
        return self.gpus * (self.hours[1] - self.hours[0])


def quiet(day: int) -> Iterator[Job]:
    """As the policy thinks: serving does 1.25 times the work of training, all of them all day."""
    for part in ((0, 12), (12, 24)):
        yield Job("vision", "n1", 3, part, 0.64 + 0.02 * (day % 2))
        yield Job("speech", "n1", 3, part, 0.8 + 0.025 * (day % 2), "inference")
    for node in ("a1", "h1"):
        yield Job("robots", node, 2, (0, 24), 0.7)
        yield Job("bio", node, 2, (0, 24), 0.7)


def planted(day: int) -> Iterator[Job]:
    """Serving idles, training comes in bursts about noon, with another framework, and fails; bio is gone, chem is new and takes the H100; two
    accounts are nobody's.
    """
    for part in ((0, 12), (12, 24)):
        yield Job("speech", "n1", 1, part, 0.2 + 0.02 * (day % 2), "inference")
    for number in range(6):
        yield Job("vision", "n1", 1, (9, 14), 0.9 + 0.01 * (number % 2), framework="jax", outcome="failed")
    yield Job("speech-lab", "n1", 1, (10, 20), 0.9)
    yield Job("xq17", "n1", 1, (20, 24), 0.9)
    for node in ("a1", "h1"):
        yield Job("robots", node, 3 if node == "a1" else 1, (0, 24), 0.7)
        yield Job("chem", node, 1 if node == "a1" else 3, (0, 24), 0.7)


def jobs(month: str, *, is_planted: bool = True) -> list[tuple[int, Job]]:
    return [(day, job) for day in DAYS for job in (planted if is_planted and month == NOW else quiet)(day)]


def price(month: str, node: str, *, is_planted: bool) -> str:
    """Of a day: a GPU-hour of the A100 is 1.00, of the H100 1.20, and 2.50 where it is planted."""
    h100 = "240.00" if is_planted and month == NOW else "115.20"
    return {"n1": "96.00", "a1": "96.00", "h1": h100}[node]


def bill(*, is_planted: bool) -> str:
    lines = [HEAD]
    for month, billed in MONTHS.items():
        for day in DAYS:
            for node in MODELS:
                service = "GPU small" if node == "n1" else "GPU large"
                money = ",".join([price(month, node, is_planted=is_planted)] * 4)
                charged = f"{month}-{day:02}T00:00:00Z,{month}-{day + 1:02}T00:00:00Z"
                lines.append(f"Acme,1,{billed},{charged},Usage,{money},USD,{service},Compute,{node},node,")
    return "\n".join(lines) + "\n"


def instant(month: str, day: int, hour: int) -> str:
    return f"{month}-{day + hour // 24:02}T{hour % 24:02}:00:00Z"


def job_rows(*, is_planted: bool) -> str:
    lines = ["job,account,phase,framework,node,start,end,gpus,used,joules,state"]
    for month in MONTHS:
        for number, (day, job) in enumerate(jobs(month, is_planted=is_planted)):
            start, end = (instant(month, day, hour) for hour in job.hours)
            joules = round(job.held * job.used * 1_000_000)
            lines.append(
                f"{month}-{number},{job.account},{job.phase},{job.framework},{job.node},{start},{end},{job.gpus},"
                f"{job.gpus * job.used:.4f},{joules},{job.outcome}"
            )
    return "\n".join(lines) + "\n"


def node_rows() -> str:
    lines = ["node,meter,start,end,amount,model"]
    for month in MONTHS:
        for node, (model, gpus) in MODELS.items():
            lines.append(f"{node},gpu,{month}-01T00:00:00Z,{month}-15T00:00:00Z,{gpus},{model}")
    return "\n".join(lines) + "\n"


SETTINGS = """\
[project]
name = "review"

[[sources]]
name = "acme"
kind = "focus"
path = "acme.csv"

[[sources]]
name = "jobs"
kind = "usage"
path = "jobs.csv"
time_zone = "UTC"
columns = { workload = "job", resource = "node", start = "start", end = "end", outcome = "state" }
meters = { gpu = "gpus", energy = "joules" }
used_meters = { gpu = "used" }
units = { energy = "joules" }
labels = { account = "account", phase = "phase", framework = "framework" }

[[sources]]
name = "nodes"
kind = "usage"
records = "capacity"
path = "nodes.csv"
time_zone = "UTC"
columns = { resource = "node", meter = "meter", start = "start", end = "end", amount = "amount" }
labels = { "gpu.model" = "model" }
"""
POLICY = """\
policy: review
effective: 2026-09-01
currency: USD
time_zone: UTC
teams: {vision: , speech: , robots: , bio: , chem: }
owners:
  - {when: {account: vision}, team: vision}
  - {when: {account: speech}, team: speech}
  - {when: {account: [robots, bio, chem]}, team: "{account}"}
facets:
  - {when: {phase: "*"}, phase: "{phase}", framework: "{framework}"}
pools:
  # Shared over those who ran.
  flat:
    costs: {ServiceName: GPU small}
    usage: {node: n1}
    meter: gpu
    method: proportional   # for now
    slot: period
    weights: {phase: {inference: 1.25}}   # serving is dearer
  mixed:
    costs: {ServiceName: GPU large}
    usage: {node: ["a1", "h1"]}
    meter: gpu
    method: capacity_rate
    weights:
      gpu.model: {"H*": 1.2}
"""


def write(folder: Path, *, is_planted: bool) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "apportion.toml": SETTINGS,
        "policy.yaml": POLICY,
        "acme.csv": bill(is_planted=is_planted),
        "jobs.csv": job_rows(is_planted=is_planted),
        "nodes.csv": node_rows(),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return folder
