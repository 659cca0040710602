"""How each code of a problem is treated: whether it is a finding, whether what it counts is lost, and what mends it.

A code that is not listed (a source of somebody else) is a lost finding: nothing changes hands silently because nobody classified it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

LOST = "lost"  # in no team's figure
GUESSED = "guessed"  # taken, though not as it is
NOTED = "noted"  # no amount, hour or row changes hands; the reason stands in the table


@dataclass(frozen=True, slots=True)
class Treatment:
    """`remedy` is what mends it; of a code that only notes something, `remedy` is why it is no finding.

    `whole`: nobody knows how much it touches, so it counts as all of its source.
    """

    kind: str
    remedy: str
    whole: bool = False


AGAIN = "mend the rows and ingest again"
UNALLOCATED = "mend the line at its source and ingest again; until then its money is nobody's"
STANZA = "name it in the source's stanza and ingest again"


def lost(remedy: str = AGAIN, *, whole: bool = False) -> Treatment:
    return Treatment(LOST, remedy, whole)


def guessed(remedy: str = AGAIN, *, whole: bool = False) -> Treatment:
    return Treatment(GUESSED, remedy, whole)


def noted(reason: str) -> Treatment:
    return Treatment(NOTED, reason)


BILLS = {
    "missing-cost": lost(UNALLOCATED),
    "missing-issuer": lost(UNALLOCATED),
    "unknown-currency": lost(UNALLOCATED),
    "unknown-charge-category": lost(UNALLOCATED),
    "invalid-tags": lost(UNALLOCATED),
    "unknown-line-type": lost(UNALLOCATED),
    "split-without-parent": lost("export the instances of the same account and period, and ingest again"),
    "broken-split": guessed("ask the vendor for all parts of the charge, and ingest again"),
    "unknown-component": guessed("state a component that exists, or none"),
    "not-amortised": guessed("export the columns of savings plans and reservations, and ingest again"),
    "exports-differ": guessed("export the actual and the amortised costs at the same time, and ingest both again"),
    "split-exceeds-parent": guessed("see whether the instance's own lines are all in the bill"),
    "repeated-lines": guessed('leave out the file that repeats another, or set `repeats = "count"` in the stanza if both are right; then ingest again'),
    "cost-missing": guessed("choose a `basis` that the bill states, or export that cost"),
    "invalid-quantity": noted("money does not depend on a bill's quantities"),
    "unknown-word": noted("the line keeps its money; where the word decides about a price, the line is marked as faulty and unallocated"),
    "invalid-json": noted("the line keeps its money and the text"),
    "unequal-cost": noted("both amounts are the bill's own; `report reconcile` tells the difference"),
    "version-differs": noted("the file is read by its columns, which are what they are"),
    "voided-invoice": noted("a voided invoice asks for nothing"),
    "rounded-money": noted("the bill's sum is exact; a line moves by at most 10^-18"),
    "no-amortised-export": noted("the plan says `cost-missing` with the money, where the policy asks for the cost that is lacking"),
    "no-actual-export": noted("the effective costs are whole; a policy by billed cost needs the other export"),
    "split-not-taken": noted("the instances' own lines carry that money"),
    "odd-split-weights": noted("the vendor's amounts are taken as they stand"),
    "no-last-newline": noted("whole files end so, too; a cut one fails its control total or `report reconcile`"),
    "column-not-given": noted("the vendor's form has no such column, for all lines alike"),
    "derived-column": noted("the page of the source says which column is taken for it, for all lines alike"),
    "another-dataset": noted("the file is no bill and holds no money to count"),
    "no-invoice-month": noted("the standard export has none; usage months are the rule that the page states"),
    "no-resources": noted("lines keep their money; a pool by `scope: resource` tells what it cannot tie"),
}  # fmt: skip
ROWS = {
    "conflicting-rows": lost("say which row is right: mend the source and ingest again, or push the row with its window"),
    "possible-repeats": guessed('set `repeats = "count"` in the stanza if each row is its own, or name a `key`; then ingest again'),
    "repeated-capacity": guessed("state each node once with all that it has, or name each of its parts as a resource, and ingest again"),
    "empty-key": guessed("fill the column, or name a `key` that no row lacks, and ingest again"),
    "repeated-rows": noted("the stanza's `key` says that such rows are one"),
    "unusual-quantity": guessed("set `units` or `used_units` in the stanza if the unit is another one, and ingest or push again"),
    "malformed-row": lost(),
    "no-value": lost("mend the expression in the stanza, or the rows, and ingest again"),
    "no-items": lost(),
    "no-rows": lost("see whether the source was reachable and the file whole, and ingest again"),
    "missing-workload": lost(),
    "missing-resource": lost(),
    "missing-reservation": lost(),
    "missing-meter": lost(),
    "missing-amount": lost(),
    "missing-end": lost(),
    "outside-window": noted("such rows count in the month that they lie in, once a delivery speaks for it"),
    "none-in-window": lost("see whether `window`, the month that was asked for and `time_zone` are right, and ingest again"),
    "months-kept": lost("keep the logs of all these months under `path`, or set `window`, and ingest again"),
    "far-past": guessed("mend the starts and ingest again: until then such work counts from the window's beginning"),
    "far-future": guessed("mend the ends and ingest again: until then such work counts to the window's end"),
    "duration-differs": guessed("leave out of `columns` whichever is wrong, the end or the duration, and ingest again"),
    "invalid-time": lost(),
    "unknown-time-zone": lost(),
    "ambiguous-time": guessed("write times with their offset or in UTC, and ingest again"),
    "skipped-time": guessed("write times with their offset or in UTC, and ingest again"),
    "mostly-zero-length": guessed("see whether `units` says the duration's unit and `end` names the end, and ingest again"),
    "mostly-far-past": guessed("see whether `time` says the unit of the times, and ingest again"),
    "mostly-far-future": guessed("see whether `time` says the unit of the times, and ingest again"),
    "reversed-period": lost(),
    "invalid-number": lost(),
    "negative-amount": lost(),
    "too-fine": lost(),
    "unknown-meter": lost(STANZA),
    "unknown-unit": lost(STANZA),
    "invalid-labels": guessed("mend the labels and ingest again: without them the row may be somebody else's"),
    "unknown-outcome": guessed("map the word with `outcomes` on the source and ingest again"),
    "unknown-state": guessed("map the word with `states` on the source and ingest again"),
    "unknown-share": lost("state the size in the stanza, such as sharing = {shards = 8}, and ingest again"),
    "unknown-metric": lost("name it in `held` or `used` of the stanza and ingest again"),
}  # fmt: skip
MEASURED = {
    "estimated": noted("a gap no longer than the stanza's own bound is bridged by what held before: a rule that somebody agreed to"),
    "not-measured": lost("see whether the agent or the server was down; raise the bound of the stanza if work went on, and ingest again"),
    "no-node": lost("let Prometheus keep kube_pod_info, and ingest again"),
    "not-an-answer": lost("save the answer again and ingest it"),
    "past-window": lost("ask more often, or raise `reach_hours`; saved objects can be read for that time"),
    "missing-claim": lost("ask more often than claims live"),
    "not-permitted": guessed("give the user the rule that the message names, and ingest again"),
    "broken-batch": lost("copy the file from its node again and ingest it"),
    "two-agents": noted("each millijoule counts once, whoever measured it"),
    "clock-jumped": guessed("set the node's clock, and let it be kept by NTP"),
    "no-site": lost("add the node to the `nodes` of its site, and ingest again"),
    "energy-not-measured": lost("read a counter, which bridges gaps, or bring the readings and ingest again"),
    "counter-reset": guessed("read the counter before it is set back"),
    "time-of-file": guessed("put the time into the report's name, and ingest again"),
    "rounded-sizes": noted("the tool prints all owners' sizes alike, to its own digits"),
    "unmatched-check-in": lost("bring the log from the server's start, and ingest again"),
    "seat-twice": guessed("end the older row with its last day, and ingest again"),
    "several-runs": noted("the job keeps all the names; no amount moves"),
    "run-without-job": noted("a tracker only names: what ran is counted by whoever saw it run"),
}  # fmt: skip
SLURM = {
    "invalid-nodes": lost("save the accounting again and ingest it"),
    "runaway-job": guessed("sacctmgr show runawayjobs mends it; then ingest the time since its start again"),
    "elapsed-differs": guessed("see which of End and ElapsedRaw is right, mend the row (sacctmgr show runawayjobs; or save Suspended too), and ingest again"),
    "start-before-submit": guessed("see whether Start and Submit changed places, or save it again with `sacct -D`, and ingest it"),
    "attempts-missing": lost("save it again with `sacct -D -a`, and ingest it", whole=True),
    "unknown-capacity": guessed("save the output of `scontrol show node` too, and ingest again"),
    "capacity-differs": guessed("save `scontrol show node` before a change of hardware, and ingest that time from files"),
    "no-events": noted("capacity that is down is idle of another cause: no team's amount depends on it"),
    "differs-from-sreport": guessed("save the accounting again, all users and attempts, and ingest it"),
    "passed-over": lost("move the file elsewhere, or save it as a form that the page names"),
    "implausible-energy": lost("mend the sensor; the energy of those jobs is left out"),
    "shared-energy": noted("the stanza's `energy` says what to do with energy that is told of several jobs"),
}  # fmt: skip
OPENCOST = {
    "unreconciled": guessed("the assets count; see why pods and idle add up to something else"),
    "more-than-capacity": guessed("see whether slices were counted as whole GPUs, or metrics scraped twice"),
    "no-assets": lost("ask /assets for the same window, and ingest again"),
    "no-allocations": guessed("see whether OpenCost's queries failed that day, and ingest again"),
    "no-hours": lost("see which labels of the pod's metrics do not match, and ingest again"),
    "gpu-not-counted": lost("read such pods from Prometheus"),
    "no-pod": lost("ask without `aggregate`, and ingest again"),
    "shared-cost": noted("that money belongs to other assets, which are counted there"),
    "discount-not-on-gpu": guessed("see whether your contract gives the discount on GPUs"),
    "list-prices": noted("OpenCost is the bill because the stanza says so; its prices are what it states"),
}
ENGINE = {
    "file-in-two-sources": guessed("give each source its own cluster's files, or let one source read the file with a column for `cluster`; then ingest again"),
    "two-sources": guessed("say which source decides with `decides` in the policy"),
    "measured-elsewhere": lost("let both sources call the node by the same name"),
    "oversold-reservations": guessed("reserve no more than there is, or bring the capacity that is missing"),
    "overcommitted-board": guessed("mend the inventory; where boards are shared, `scope: resource` keeps each to its own money"),
    "ambiguous-node": guessed("say with `nodes` in the policy whose instance it is"),
    "card-currency": lost("give the pool prices in the bill's currency, or an `fx` table", whole=True),
    "no-price": lost("add a price to the card that matches that work"),
    "owner-label-missing": noted("its money stands in the coverage as unallocated, with cause and remedy"),
    "owner-name-reserved": noted("its money stands in the coverage as unallocated, with cause and remedy"),
}  # fmt: skip
ABOUT_MONEY = frozenset({*BILLS, "unreconciled", "no-assets", "discount-not-on-gpu", "list-prices"})  # and no usage
TREATMENTS: Mapping[str, Treatment] = {**BILLS, **ROWS, **MEASURED, **SLURM, **OPENCOST, **ENGINE}


def treatment_of(code: str) -> Treatment:
    return TREATMENTS.get(code, lost())
