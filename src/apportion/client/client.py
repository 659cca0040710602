"""The REST API for Python programs: a method for each endpoint, with the answers as values.

    with apportion.Client("http://127.0.0.1:8765", token) as client:
        for team in client.teams(period="2026-10"):
            print(team.name, team.amounts)

Lists are read part by part while one goes through them. What the server refuses is an ApportionError with its code and hint.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

from apportion.client import agreed, estimates, record, reviews, shapes, whatifs
from apportion.client import pledges as pledged
from apportion.client.anomalies import AcknowledgementWish, Anomaly
from apportion.client.rows import Table, Timed
from apportion.client.shapes import Listed, Shape
from apportion.client.wire import Query, Wire

if TYPE_CHECKING:
    import pyarrow as pa

Made = TypeVar("Made", bound=Shape)
PART = 500  # items of a list that are read at once
LINES, ARROW = "application/x-ndjson", "application/vnd.apache.arrow.stream"


@dataclass(frozen=True, slots=True)
class Pushing:
    """How rows are pushed. With a `window` (UTC seconds) they replace what the source said of it; without one they are added."""

    table: Table = "usage"
    strict: bool = False
    window: tuple[int, int] | None = None


class Client(Wire):
    """`url` is that of the server, such as http://127.0.0.1:8765; `token` is one for programs."""

    def me(self) -> shapes.Me:
        return shapes.Me.model_validate(self.get("/me"))

    def periods(self) -> Iterator[shapes.Month]:
        return self._each("/periods", shapes.Month, {})

    def report(
        self, name: str, period: str = "", where: Sequence[str] = (), by: str = "", as_of: str = ""
    ) -> shapes.ReportAnswer:
        """showback, trend, idle, held, coverage, carbon, corrections, efficiency, facets or runs; reconcile, fairness and nodes for those who see all teams."""
        query = {"period": period, "where": where, "by": by, "as_of": as_of}
        return shapes.ReportAnswer.model_validate(self.get(f"/reports/{named(name)}", query))

    def teams(self, period: str = "", where: Sequence[str] = (), as_of: str = "") -> Iterator[shapes.Team]:
        return self._each("/teams", shapes.Team, {"period": period, "where": where, "as_of": as_of})

    def team(self, team: str, period: str = "", where: Sequence[str] = (), as_of: str = "") -> shapes.Breakdown:
        return self._broken_down(f"/teams/{named(team)}", period, where, as_of)

    def projects(self, period: str = "", where: Sequence[str] = (), as_of: str = "") -> Iterator[shapes.Owner]:
        return self._each("/projects", shapes.Owner, {"period": period, "where": where, "as_of": as_of})

    def project(self, team: str, project: str, period: str = "", where: Sequence[str] = ()) -> shapes.Breakdown:
        return self._broken_down(f"/projects/{named(team)}/{named(project)}", period, where)

    def users(self, period: str = "", where: Sequence[str] = (), as_of: str = "") -> Iterator[shapes.Owner]:
        return self._each("/users", shapes.Owner, {"period": period, "where": where, "as_of": as_of})

    def user(self, user: str, period: str = "", where: Sequence[str] = (), as_of: str = "") -> shapes.Breakdown:
        return self._broken_down(f"/users/{named(user)}", period, where, as_of)

    def pools(self, period: str = "", where: Sequence[str] = (), as_of: str = "") -> Iterator[shapes.Owner]:
        return self._each("/pools", shapes.Owner, {"period": period, "where": where, "as_of": as_of})

    def pool(self, pool: str, period: str = "", where: Sequence[str] = (), as_of: str = "") -> shapes.Breakdown:
        return self._broken_down(f"/pools/{named(pool)}", period, where, as_of)

    def run(self, run: str, period: str = "") -> record.RunCost:
        """What a job or run cost."""
        return record.RunCost.model_validate(self.get(f"/runs/{named(run)}", {"period": period}))

    def postings(self, period: str = "", where: Sequence[str] = ()) -> Iterator[record.Posting]:
        """Of all months unless some are asked for."""
        return self._each("/postings", record.Posting, {"period": period, "where": where})

    def statements(self, period: str = "", level: str = "team") -> Iterator[record.StatementLine]:
        return self._each("/statements", record.StatementLine, {"period": period, "level": level})

    def statement(self, period: str, owner: str, level: str = "team", as_of: str = "") -> record.StatementAnswer:
        query = {"level": level, "as_of": as_of}
        return record.StatementAnswer.model_validate(self.get(f"/statements/{named(period)}/{named(owner)}", query))

    def disputes(self, status: str = "", period: str = "") -> Iterator[record.Dispute]:
        return self._each("/disputes", record.Dispute, {"status": status, "period": period})

    def dispute(self, number: int) -> record.Dispute:
        return record.Dispute.model_validate(self.get(f"/disputes/{number}"))

    def open_dispute(self, period: str, what: str, why: str, amount: str = "") -> record.Dispute:
        given = record.Doubt(period=period, what=what, why=why, amount=amount)
        return record.Dispute.model_validate(self.post("/disputes", given.model_dump()))

    def say(self, number: int, text: str) -> record.Dispute:
        given = record.Words(text=text)
        return record.Dispute.model_validate(self.post(f"/disputes/{number}/notes", given.model_dump()))

    def settle(self, number: int, ending: record.Ending) -> record.Settled:
        return record.Settled.model_validate(self.post(f"/disputes/{number}/settlement", ending.model_dump()))

    def adjustments(self) -> Iterator[record.Adjustment]:
        return self._each("/adjustments", record.Adjustment, {})

    def give_credit(self, credit: record.Credit) -> record.Credited:
        return record.Credited.model_validate(self.post("/adjustments", credit.model_dump()))

    def budgets(self, period: str = "") -> Iterator[agreed.Budget]:
        return self._each("/budgets", agreed.Budget, {"period": period})

    def set_budget(self, owner: str, amount: str, since: str, why: str = "") -> agreed.BudgetSet:
        given = agreed.BudgetWish(owner=owner, amount=amount, since=since, why=why)
        return agreed.BudgetSet.model_validate(self.post("/budgets", given.model_dump()))

    def pledges(self, status: str = "") -> Iterator[pledged.Pledge]:
        """What is reserved and lent, or was."""
        return self._each("/pledges", pledged.Pledge, {"status": status})

    def reserve(self, wish: pledged.ReservationWish) -> pledged.Reserved:
        return pledged.Reserved.model_validate(self.post("/reservations", wish.model_dump()))

    def post_reservation(self, number: int, actual: str = "") -> pledged.Pledge:
        given = pledged.PostingWish(actual=actual)
        return pledged.Pledge.model_validate(self.post(f"/reservations/{number}/posting", given.model_dump()))

    def void_reservation(self, number: int, why: str = "") -> pledged.Pledge:
        given = pledged.EndWish(why=why)
        return pledged.Pledge.model_validate(self.post(f"/reservations/{number}/voiding", given.model_dump()))

    def lend(self, wish: pledged.LoanWish) -> pledged.Pledge:
        return pledged.Pledge.model_validate(self.post("/loans", wish.model_dump()))

    def give_back(self, number: int, why: str = "") -> pledged.Pledge:
        given = pledged.EndWish(why=why)
        return pledged.Pledge.model_validate(self.post(f"/loans/{number}/return", given.model_dump()))

    def drafts(self, status: str = "") -> Iterator[agreed.Draft]:
        return self._each("/drafts", agreed.Draft, {"status": status})

    def draft(self, number: int) -> agreed.DraftText:
        return agreed.DraftText.model_validate(self.get(f"/drafts/{number}"))

    def propose(self, text: str, why: str) -> agreed.Draft:
        given = agreed.DraftWish(text=text, why=why)
        return agreed.Draft.model_validate(self.post("/drafts", given.model_dump()))

    def propose_owner_rule(self, rule: agreed.OwnerRuleWish) -> agreed.Draft:
        return agreed.Draft.model_validate(self.post("/drafts/owners", rule.model_dump()))

    def adopt(self, number: int) -> agreed.Draft:
        return agreed.Draft.model_validate(self.post(f"/drafts/{number}/adoption", {}))

    def drop(self, number: int) -> agreed.Draft:
        return agreed.Draft.model_validate(self.post(f"/drafts/{number}/drop", {}))

    def what_if(self, period: str, text: str = "", prices: Sequence[str] = ()) -> agreed.Whatif:
        """The plan of a month under another policy, or at other prices (`gpus=+10%`, `gpus=120000`), against what is posted."""
        given = agreed.WhatifWish(period=period, text=text, prices=list(prices))
        return agreed.Whatif.model_validate(self.post("/what-if", given.model_dump()))

    def back_test(self, asked: agreed.BacktestWish) -> agreed.Backtest:
        """Posted months under other policies or at other prices: who gains, who loses and why, and how much bills swing."""
        return agreed.Backtest.model_validate(self.post("/back-test", asked.model_dump()))

    def review(self, period: str = "") -> reviews.Review:
        """What changed in a month, what stands out, and which rules no longer fit."""
        return reviews.Review.model_validate(self.get("/review", {"period": period}))

    def save_review_draft(self, asked: reviews.ReviewDraftWish) -> agreed.Draft:
        """Keep the draft of one finding of a review."""
        return agreed.Draft.model_validate(self.post("/review/drafts", asked.model_dump()))

    def what_ifs(self) -> Iterator[whatifs.SavedWhatif]:
        """Those that are saved, oldest first."""
        return self._each("/what-ifs", whatifs.SavedWhatif, {})

    def saved_what_if(self, saved: str) -> whatifs.SavedAnswer:
        """What it came to when it was saved, by its id."""
        return whatifs.SavedAnswer.model_validate(self.get(f"/what-ifs/{named(saved)}"))

    def save_what_if(self, asked: whatifs.SaveWish) -> whatifs.SavedWhatif:
        """Computes a back-test and keeps what it comes to."""
        return whatifs.SavedWhatif.model_validate(self.post("/what-ifs", asked.model_dump()))

    def forget_what_if(self, saved: str) -> whatifs.SavedWhatif:
        return whatifs.SavedWhatif.model_validate(self.post(f"/what-ifs/{named(saved)}/end", {}))

    def quotas(self, period: str = "") -> shapes.ReportAnswer:
        return shapes.ReportAnswer.model_validate(self.get("/quotas", {"period": period}))

    def prices(self, days: int = 7, first: str = "", pool: str = "", team: str = "") -> shapes.ReportAnswer:
        """What an hour will cost in the coming days, from `first` (today unless given)."""
        answer = self.get("/prices", {"days": days, "from": first, "pool": pool, "team": team})
        return shapes.ReportAnswer.model_validate(answer)

    def advice(self, period: str = "", kind: str = "") -> shapes.ReportAnswer:
        """What was wasted, what acting on it would save, who can and how."""
        return shapes.ReportAnswer.model_validate(self.get("/advice", {"period": period, "kind": kind}))

    def anomalies(self) -> Iterator[Anomaly]:
        """What is not as usual, the oldest first; those that were acknowledged, too."""
        return self._each("/anomalies", Anomaly, {})

    def anomaly(self, anomaly: str) -> Anomaly:
        return Anomaly.model_validate(self.get(f"/anomalies/{named(anomaly)}"))

    def acknowledge(self, anomaly: str, why: str, until: str = "") -> Anomaly:
        """Nothing is told of it while it lasts, or until a day."""
        given = AcknowledgementWish(why=why, until=until)
        made = self.post(f"/anomalies/{named(anomaly)}/acknowledgement", given.model_dump())
        return Anomaly.model_validate(made)

    def realised(self, period: str = "", since: str = "") -> shapes.ReportAnswer:
        """What became of the advice of an earlier month, and what that saved."""
        return shapes.ReportAnswer.model_validate(self.get("/advice/realised", {"period": period, "since": since}))

    def estimate(self, job: estimates.EstimateWish) -> estimates.Estimated:
        """What a job would cost before it runs."""
        return estimates.Estimated.model_validate(self.post("/estimates", job.model_dump()))

    def forecast(self, team: Sequence[str] = (), by: str = "team", through: str = "") -> shapes.ReportAnswer:
        """Where the month ends, with intervals, for some of the teams that you may see or for all; by `team` or `pool`."""
        query = {"team": team, "by": by, "through": through}
        return shapes.ReportAnswer.model_validate(self.get("/forecast", query))

    def forecast_backtest(self, team: Sequence[str] = (), by: str = "team", through: str = "") -> shapes.ReportAnswer:
        """How such forecasts did on the months before, beside 'same as last month' and the run-rate."""
        query = {"team": team, "by": by, "through": through}
        return shapes.ReportAnswer.model_validate(self.get("/forecast/back-test", query))

    def explanation(self, what: str, period: str = "") -> record.Explanation:
        """Why a team's, job's or posting's figure is what it is."""
        return record.Explanation.model_validate(self.get("/explain", {"what": what, "period": period}))

    def capacity(self, period: str = "") -> shapes.ReportAnswer:
        """What became of the pools that you are charged from."""
        return shapes.ReportAnswer.model_validate(self.get("/capacity", {"period": period}))

    def pool_capacity(self, pool: str, period: str = "", by: str = "day") -> shapes.ReportAnswer:
        """By `day`, `hour`, or hour of the `week`."""
        return shapes.ReportAnswer.model_validate(self.get(f"/capacity/{named(pool)}", {"period": period, "by": by}))

    def tokens(self) -> Iterator[agreed.Token]:
        return self._each("/tokens", agreed.Token, {})

    def make_token(self, wish: agreed.TokenWish) -> agreed.TokenMade:
        return agreed.TokenMade.model_validate(self.post("/tokens", wish.model_dump()))

    def revoke_token(self, token: str) -> agreed.Token:
        return agreed.Token.model_validate(self.post(f"/tokens/{named(token)}/revocation", {}))

    def webhooks(self) -> Iterator[agreed.Hook]:
        return self._each("/webhooks", agreed.Hook, {})

    def add_webhook(self, wish: agreed.HookWish) -> agreed.HookMade:
        return agreed.HookMade.model_validate(self.post("/webhooks", wish.model_dump()))

    def try_webhook(self, hook: str) -> agreed.HookTold:
        return agreed.HookTold.model_validate(self.post(f"/webhooks/{named(hook)}/test", {}))

    def end_webhook(self, hook: str) -> agreed.Hook:
        return agreed.Hook.model_validate(self.post(f"/webhooks/{named(hook)}/end", {}))

    def find(self, text: str) -> shapes.Hits:
        return shapes.Hits.model_validate(self.get("/search", {"q": text}))

    def live(self, by: str = "team", where: Sequence[str] = ()) -> shapes.ReportAnswer:
        """What the running month comes to so far."""
        return shapes.ReportAnswer.model_validate(self.get("/live", {"by": by, "where": where}))

    def policies(self) -> Iterator[record.PolicyVersion]:
        return self._each("/policies", record.PolicyVersion, {})

    def policy(self, version: str) -> record.PolicyText:
        return record.PolicyText.model_validate(self.get(f"/policies/{named(version)}"))

    def health(self) -> record.Health:
        return record.Health.model_validate(self.get("/health"))

    def runs_of_the_books(self) -> Iterator[record.LedgerRun]:
        return self._each("/books/runs", record.LedgerRun, {})

    def audit(self, what: Sequence[str] = ()) -> Iterator[record.Note]:
        return self._each("/audit", record.Note, {"what": what})

    def push_usage(
        self,
        rows: "pa.Table | Iterable[Timed | Mapping[str, Any]]",
        source: str,
        how: Pushing | None = None,
        key: str = "",
    ) -> record.PushAnswer:
        """An Arrow table, or rows as mappings. `key` names this push for whoever may have to repeat it; a new one unless given."""
        how = how or Pushing()
        body, form = packed(rows)
        start_s, end_s = how.window or (None, None)
        query: Query = {
            "source": source, "table": how.table, "strict": how.strict, "start_s": start_s, "end_s": end_s,
        }  # fmt: skip
        headers = {"Content-Type": form, "Content-Encoding": "gzip", "Idempotency-Key": key or uuid4().hex}
        return record.PushAnswer.model_validate(self.post_keyed("/usage", query, body, headers))

    def _broken_down(self, path: str, period: str, where: Sequence[str], as_of: str = "") -> shapes.Breakdown:
        query = {"period": period, "where": where, "as_of": as_of}
        return shapes.Breakdown.model_validate(self.get(path, query))

    def _each(self, path: str, kind: type[Made], query: Query) -> Iterator[Made]:
        cursor = ""
        while True:
            part = Listed[kind].model_validate(self.get(path, {**query, "limit": PART, "cursor": cursor}))  # type: ignore[valid-type]  # a shape that is known at run time
            yield from part.items
            cursor = part.next
            if not cursor:
                return


def named(name: str) -> str:
    return quote(name, safe="")


def packed(rows: "pa.Table | Iterable[Timed | Mapping[str, Any]]") -> tuple[bytes, str]:
    """The same rows give the same bytes, so that a push can be repeated by its key."""
    if hasattr(rows, "to_batches"):
        return gzip.compress(streamed(rows), mtime=0), ARROW
    lines = (json.dumps(plain(row), separators=(",", ":")) for row in rows)
    return gzip.compress("\n".join(lines).encode(), mtime=0), LINES


def streamed(table: "pa.Table") -> bytes:
    import pyarrow as pa  # noqa: PLC0415  # only for those who have tables

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def plain(row: Timed | Mapping[str, Any]) -> dict[str, Any]:
    return row.model_dump(exclude_none=True) if isinstance(row, Timed) else dict(row)
