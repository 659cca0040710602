"""The read verbs as tools, one method each. Names, words and figures are the REST API's; what a caller may not see is not there."""

from collections.abc import Mapping
from decimal import Decimal
from itertools import islice
from typing import Annotated, Any, Literal

from mcp_types import CallToolResult
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apportion.client.client import Client
from apportion.client.estimates import EstimateWish
from apportion.errors import ApportionError
from apportion.integrations.mcp.answers import Answer, told
from apportion.reports.words import counted, shown

Said = Annotated[CallToolResult, Answer]
Period = Annotated[
    str, Field(description="A month (2026-10), or several (2026-Q4, 2026-04..2026-10); the newest posted unless given.")
]
Month = Annotated[str, Field(description="A month, such as 2026-10; the newest posted unless given.")]
Where = Annotated[
    tuple[str, ...], Field(description="Only rows of that name, such as team=vision, pool=h100 or project=ocr.")
]
Limit = Annotated[int, Field(ge=1, le=1000, description="At most so many rows.")]
Kind = Literal[
    "showback", "trend", "idle", "held", "coverage", "carbon", "corrections", "efficiency", "facets", "runs", "reconcile", "fairness", "nodes",
]  # fmt: skip


class Job(BaseModel):
    """A job that nobody has run. Amounts are texts, such as "8" or "3/7"."""

    model_config = ConfigDict(extra="forbid")

    team: str
    hours: str
    gpus: str = ""
    cpus: str = ""
    memory: str = Field("", description="GiB")
    model: str = Field("", description="Of GPU, such as h100.")
    pool: str = ""
    start: str = Field("", description="Such as 2026-11-17T09:00.")
    labels: list[str] = Field(
        default_factory=list, description="As the scheduler would write them, such as qos=preemptible."
    )


class Tools:
    def __init__(self, client: Client) -> None:
        self.client = client

    def whoami(self) -> Said:
        """Who you are to Apportion: your role, the teams that you may see, and what you may do."""
        me = self.client.me()
        teams = "all teams" if me.teams is None else ", ".join(me.teams) or "no team"
        return told(f"You are {me.name} ({me.role}) and see {teams}.", me, 100)

    def months(self, limit: Limit = 100) -> Said:
        """Which months are posted, whether each is open or closed, and what is posted in it."""
        found = rows(self.client.periods(), limit)
        return told(f"{counted(len(found), 'month is', 'months are')} posted.", {"months": found}, limit)

    def report(
        self, name: Kind = "showback", period: Period = "", where: Where = (), by: str = "", limit: Limit = 100
    ) -> Said:
        """Who owes what, and what else the record says.

        showback: who owes what, `by` team, department, cost_centre, project, user, pool, component, reason, cause, bill or day.
        trend: how it moved, by day or month. idle: what stood idle, why and who carries it. held: what was held and used, and what the
        difference cost. coverage: how much of the bill has an owner. carbon: energy and carbon. corrections: what was corrected.
        efficiency: how much of what each team held was useful. facets: what kind of work it was. runs: what runs cost.
        reconcile, fairness and nodes are for those who see all teams.
        """
        made = self.client.report(name, period, where, by)
        return told(made.title, made, limit)

    def explain(self, what: str, period: Month = "", limit: Limit = 100) -> Said:
        """Why a figure is what it is, from the bill to the last cent: of a team, a pool, a job, a run, or a posting by number or hash."""
        made = self.client.explanation(what, period)
        return told(made.title, made, limit)

    def run_cost(self, run: str, period: Month = "", limit: Limit = 100) -> Said:
        """What a job or run cost, with all its attempts: direct, idle, overhead, what others paid, and what is owed."""
        made = self.client.run(run, period)
        sums = " and ".join(shown(Decimal(one.owed), one.currency) for one in made.totals) or "nothing"
        return told(f"{made.run} cost {sums} ({made.status}).", made, limit)

    def estimate(self, job: Job, limit: Limit = 100) -> Said:
        """What a job would cost before it runs, cheaper ways to run it, and whether budgets and quotas hold it."""
        made = self.client.estimate(EstimateWish.model_validate(job.model_dump()))
        return told(f"{made.estimate} would cost {made.team} {shown(Decimal(made.price), made.currency)}.", made, limit)

    def prices(
        self,
        days: Annotated[int, Field(ge=1, le=92)] = 7,
        first: str = "",
        pool: str = "",
        team: str = "",
        limit: Limit = 100,
    ) -> Said:
        """What an hour will cost in the coming days, from the day `first` (today unless given); with the discounts of a team."""
        made = self.client.prices(days, first, pool, team)
        return told(made.title, made, limit)

    def forecast(
        self, teams: tuple[str, ...] = (), by: Literal["team", "pool"] = "team", through: str = "", limit: Limit = 100
    ) -> Said:
        """Where the month ends and how sure that is; `through` is a day such as 2026-10-14, as if it were the last that is known."""
        made = self.client.forecast(teams, by, through)
        return told(made.title, made, limit)

    def anomalies(self, limit: Limit = 100) -> Said:
        """What is not as usual: spending, prices, idle, failures, the cost of an hour; with causes that add up to what it meant."""
        found = rows(self.client.anomalies(), limit)
        return told(
            f"{counted(len(found), 'thing is or was', 'things are or were')} not as usual.", {"anomalies": found}, limit
        )

    def advise(self, period: Month = "", kind: str = "", limit: Limit = 100) -> Said:
        """What was wasted, what acting on it would save, who can and how."""
        made = self.client.advice(period, kind)
        return told(made.title, made, limit)

    def quotas(self, period: Month = "", limit: Limit = 100) -> Said:
        """What is used and left of each quota."""
        made = self.client.quotas(period)
        return told(made.title, made, limit)

    def budgets(self, period: Month = "", limit: Limit = 100) -> Said:
        """What is spent and left of each budget."""
        found = rows(self.client.budgets(period), limit)
        return told(f"{counted(len(found), 'budget holds', 'budgets hold')}.", {"budgets": found}, limit)

    def what_if(self, period: Month = "", prices: tuple[str, ...] = (), policy: str = "", limit: Limit = 100) -> Said:
        """Who would owe what in a posted month at other prices (such as h100=+10%) or by the text of another policy. Nothing changes.

        For those who see all teams.
        """
        made = self.client.what_if(period or self.newest(), policy, prices)
        return told(made.title, made, limit)

    def statement(self, owner: str, period: Month = "", level: str = "team", limit: Limit = 100) -> Said:
        """What an owner owes for a month, as it was issued, or a draft while the month is open. `level`: cost_centre, department, team, project or user."""
        month = period or self.newest()
        made = self.client.statement(month, owner, level)
        return told(f"The statement of {owner} for {month}.", made, limit)

    def search(self, text: str, limit: Limit = 100) -> Said:
        """Find teams, projects, users, pools, runs, postings, invoices and disputes by a part of their name or number."""
        found = self.client.find(text)
        return told(f"{counted(len(found.hits), 'hit')} for {text!r}.", found, limit)

    def policy(self, version: str = "") -> Said:
        """The agreed rules as text, in the version that is named or the newest. For those who see all teams."""
        known = list(self.client.policies())
        wanted = version or (known[-1].version if known else "")
        if not wanted:
            raise ApportionError("no-policy-in-force", "no policy is on record yet", hint="plan a month first")
        made = self.client.policy(wanted)
        return told(f"{made.name}, in force from {made.effective}.", made, 1)

    def newest(self) -> str:
        months = [month.period for month in self.client.periods()]
        if not months:
            raise ApportionError("nothing-posted", "nothing is posted yet", hint="plan a month and apply it first")
        return max(months)


READ = (
    "whoami", "months", "report", "explain", "run_cost", "estimate", "prices", "forecast", "anomalies", "advise", "quotas", "budgets", "what_if",
    "statement", "search", "policy",
)  # fmt: skip


def rows(found: Any, limit: int) -> list[dict[str, Any]]:
    """One more than is shown, so that there is something to leave out."""
    return [one.model_dump(mode="json") for one in islice(found, limit + 1)]


def words(error: ValidationError) -> str:
    """`job.hours: 12h is no number`, one after the other."""
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {told_of(one)}" for one in error.errors())


def told_of(one: Mapping[str, Any]) -> str:
    if one["type"] == "extra_forbidden":
        return "there is no such argument here; the tool's schema has those that there are"
    return "it is needed" if one["type"] == "missing" else str(one["msg"])
