"""Reservations: what they set aside, for whom. Slurm's accounting records their cores only, so GPUs that were reserved and idle are billed to nobody there;
here a reservation of whole nodes holds all that those nodes have.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa

from apportion.model.rows import RESERVATIONS
from apportion.model.times import Interval
from apportion.sources.slurm.capacity import FOREVER, amounts_of, labels_of
from apportion.sources.slurm.hostlists import nodes_of
from apportion.sources.slurm.nodes import Node
from apportion.sources.slurm.settings import How
from apportion.sources.slurm.tables import instant, rows_of
from apportion.sources.slurm.tres import Tres, tres_of

FIELD = re.compile(r"(?:^|\s)([A-Za-z]+)=(\S*)")
EMPTY = frozenset({"", "(null)", "N/A"})


@dataclass(frozen=True, slots=True)
class Reservation:
    """`number` is Slurm's own id; it keeps it when it is changed, and has a row for each form it had."""

    number: str
    name: str
    cluster: str
    span: Interval
    nodes: tuple[str, ...]
    has: Tres
    flags: frozenset[str]
    accounts: tuple[str, ...] = ()
    users: tuple[str, ...] = ()

    @property
    def is_maintenance(self) -> bool:
        return "MAINT" in self.flags


def associations_of(text: str) -> dict[str, tuple[str, str]]:
    """Account and user of an association's number: `sacctmgr -P show assoc format=ID,Account,User`."""
    return {row["id"]: (row.get("account", ""), row.get("user", "")) for row in rows_of(text) if row.get("id")}


def from_sacctmgr(text: str, associations: Mapping[str, tuple[str, str]], zone: ZoneInfo) -> Iterator[Reservation]:
    """`sacctmgr -P show reservation format=Cluster,Name,TRES,Start,End,Assoc,Flags,ID,NodeNames`."""
    for row in rows_of(text, "name"):
        start, end = instant(row.get("timestart", ""), zone), instant(row.get("timeend", ""), zone)
        if start is None:
            continue
        numbers = [number for number in row.get("assocs", "").split(",") if not number.startswith("-")]
        holders = [associations[number] for number in numbers if number in associations]
        yield Reservation(
            row.get("id", ""), row.get("name", ""), row.get("cluster", ""), Interval(start, FOREVER if end is None else end),
            nodes_of(row.get("nodename", "") or row.get("nodenames", "")), tres_of(row.get("tres", "")),
            frozenset(row.get("flags", "").split(",")),
            tuple(dict.fromkeys(account for account, _ in holders if account)), tuple(dict.fromkeys(user for _, user in holders if user)),
        )  # fmt: skip


def from_scontrol(text: str, cluster: str, zone: ZoneInfo) -> Iterator[Reservation]:
    """`scontrol show reservation`, with or without -o: those of now, with the names of their holders."""
    for record in re.split(r"(?m)^(?=ReservationName=)", text):
        found: dict[str, str] = {}
        for key, value in FIELD.findall(record):
            found.setdefault(key, "" if value in EMPTY else value)
        start, end = instant(found.get("StartTime", ""), zone), instant(found.get("EndTime", ""), zone)
        if found.get("ReservationName") and start is not None:
            yield Reservation(
                "", found["ReservationName"], cluster, Interval(start, FOREVER if end is None else end), nodes_of(found.get("Nodes", "")),
                tres_of(found.get("TRES", "")), frozenset(found.get("Flags", "").split(",")),
                names(found.get("Accounts", "")), names(found.get("Users", "")),
            )  # fmt: skip


def names(text: str) -> tuple[str, ...]:
    """A leading `-` shuts somebody out; that is no holder."""
    return tuple(name for name in text.split(",") if name and not name.startswith("-"))


def merged(recorded: Iterable[Reservation], current: Iterable[Reservation]) -> list[Reservation]:
    """What accounting recorded, with holders' names from what is there now; and what is there now and not recorded yet."""
    now = list(current)
    by_name = {one.name: one for one in now}
    found = []
    for one in recorded:
        other = by_name.get(one.name)
        named = other is not None and not (one.accounts or one.users) and other.span.start_s == one.span.start_s
        found.append(with_holders(one, other) if named and other else one)
    seen = {(one.name, one.span.start_s) for one in found}
    return found + [one for one in now if (one.name, one.span.start_s) not in seen]


def with_holders(one: Reservation, other: Reservation) -> Reservation:
    return Reservation(
        one.number, one.name, one.cluster, one.span, one.nodes, one.has, one.flags, other.accounts, other.users
    )


def reservations(
    found: Iterable[Reservation], nodes: Mapping[str, Node], window: Interval, cluster: str, how: How
) -> pa.Table:
    """One row for each node and meter, so that pools find their nodes. Maintenance is no promise to anybody: it is drained capacity."""
    rows = []
    for one in found:
        span = one.span.clip(window)
        if one.is_maintenance or span.seconds <= 0:
            continue
        own = one.cluster or cluster
        number = f"/{one.number}" if one.number else f"@{one.span.start_s}"
        for name in one.nodes:
            node = nodes.get(name, Node(name, Tres(nodes=1)))
            labels = list({**labels_of(node, own), "node": name, "slurm.reservation": one.name, **holders(one)}.items())
            key = f"slurm/{own}/{one.name}{number}/{name}"
            rows += [
                (how.source, key, meter, span.start_s, span.end_s, amount, labels)
                for meter, amount in part_of(one, node, nodes).items()
                if amount
            ]
    return pa.table(
        {key: [row[place] for row in rows] for place, key in enumerate(RESERVATIONS.names)}, schema=RESERVATIONS
    )


def holders(one: Reservation) -> dict[str, str]:
    labels = {"slurm.account": ",".join(one.accounts), "slurm.user": ",".join(one.users)}
    return {name: value for name, value in labels.items() if value}


def part_of(one: Reservation, node: Node, nodes: Mapping[str, Node]) -> dict[str, int]:
    """All that the node has, unless the reservation holds fewer cores than its nodes have: then those cores alone, evenly."""
    whole = sum((nodes[name].has.cpus for name in one.nodes if name in nodes), Fraction(0))
    if not one.has.cpus or one.has.cpus >= whole:
        return amounts_of(node)
    return {"cpu": round(1000 * one.has.cpus * node.has.cpus / whole) if whole else 0}
