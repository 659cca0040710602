"""Small projects whose shares are plain by hand, as a person would write them: a bill, a log, a policy.

The common base: one FOCUS line in USD of service `n` on 2026-10-05 (UTC); a log `job,node,start,end,account,gpu`; teams a, b and c, each
owning what its account ran; one pool `g` over the GPU hours of nodes `n*`. A world says what is other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

HEAD = (
    "InvoiceIssuerName,BillingAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,"
    "BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,ServiceName,ServiceCategory,ResourceId,ChargeDescription,Tags"
)
MONTH = "2026-10-01T00:00:00Z,2026-11-01T00:00:00Z"
LOG = "job,node,start,end,account,gpu"
SOURCE = """
[[sources]]
name = "{name}"
kind = "usage"
path = "{name}.csv"
window = "2026-10"
time_zone = "UTC"
columns = {{ workload = "job", resource = "node", start = "start", end = "end" }}
meters = {{ gpu = "gpu" }}
labels = {{ account = "account" }}
{more}
"""
CAPACITY = """
[[sources]]
name = "nodes"
kind = "usage"
records = "capacity"
path = "nodes.csv"
window = "2026-10"
time_zone = "UTC"
columns = { resource = "node", start = "start", end = "end", amount = "gpus", meter = "meter" }
"""


def line(amount: str, hours: str = "00 24", resource: str = "", category: str = "Usage", service: str = "n") -> str:
    """A line of the bill, for some hours of the day."""
    span = ",".join(instant(hour) for hour in hours.split())
    return (
        f"Acme,1,{MONTH},{span},{category},{amount},{amount},{amount},{amount},USD,{service},Compute,{resource},a line,"
    )


def instant(hour: str) -> str:
    return "2026-10-06T00:00:00Z" if hour == "24" else f"2026-10-05T{hour}:00:00Z"


def job(name: str, node: str, hours: str, account: str, gpu: str = "1", *more: str) -> str:
    """A row of the log."""
    return ",".join((name, node, *(instant(hour) for hour in hours.split()), account, gpu, *more))


def node(name: str, gpus: int, *more: str) -> str:
    """A row of the list of nodes, for the whole day."""
    return ",".join((name, instant("00"), instant("24"), str(gpus), "gpu", *more))


@dataclass(frozen=True, slots=True)
class HandWorld:
    """`expected` is what each owner owes, by hand; owners that owe nothing are left out. `findings` are the codes that `plan` must tell."""

    why: str
    lines: tuple[str, ...]
    jobs: tuple[str, ...]
    expected: Mapping[str, str]
    pool: str = "costs: {ServiceName: n}, usage: {node: 'n*'}, meter: gpu, method: proportional"
    log: str = LOG
    stanza: str = ""
    nodes: tuple[str, ...] = ()
    policy: str = ""
    findings: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        texts = {
            "apportion.toml": self.settings(),
            "policy.yaml": self.rules(),
            "bill.csv": "\n".join((HEAD, *self.lines, "")),
            "jobs.csv": "\n".join((self.log, *self.jobs, "")),
            **({"nodes.csv": "\n".join(("node,start,end,gpus,meter", *self.nodes, ""))} if self.nodes else {}),
            **self.files,
        }
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, "utf-8")
        return folder

    def settings(self) -> str:
        bill = '[project]\nname = "by-hand"\n\n[[sources]]\nname = "bill"\nkind = "focus"\npath = "bill.csv"\n'
        log = SOURCE.format(name="jobs", more=self.stanza)
        return bill + log + (CAPACITY if self.nodes else "")

    def rules(self) -> str:
        head = "policy: by-hand\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\nteams: {a: {}, b: {}, c: {}}\n"
        owners = "owners: [{when: {account: '*'}, team: '{account}'}]\n"
        return head + owners + (self.policy or f"pools:\n  g: {{{self.pool}}}\n")
