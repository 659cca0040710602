"""Nodes as they are: what `scontrol show node`, `sinfo` or slurmrestd say each of them has."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from ipaddress import ip_address
from typing import Any

from apportion.errors import InputError
from apportion.model.gpus import Board
from apportion.sources.slurm.hostlists import nodes_of
from apportion.sources.slurm.tables import rows_of
from apportion.sources.slurm.tres import MEGA, Tres, gres_of, tres_of

FIELD = re.compile(r"(?:^|\s)([A-Za-z]+)=(\S*)")
NO_BOARD = Board()
NOT_SET = ("", "(null)", "N/A", "None")


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    has: Tres
    partitions: tuple[str, ...] = ()
    machine: tuple[tuple[str, str], ...] = ()  # by what a bill may know it: labels

    @property
    def model(self) -> str:
        return self.has.model

    def board(self, given: Board) -> Board:
        """Into how many parts its boards are cut: as the stanza says, else as its own shards and MPS are to its boards."""
        boards = self.has.boards
        own: dict[str, Fraction] = {}
        for kind, _, count in self.has.parts:
            name = {"shard": "shards", "mps": "mps"}[kind]
            own[name] = own.get(name, Fraction(0)) + count
        cut = {name: int(count / boards) for name, count in own.items() if boards and (count / boards).denominator == 1}
        return replace(
            given,
            shards=given.shards or cut.get("shards", 0),
            mps=given.mps if given.mps != NO_BOARD.mps else cut.get("mps", given.mps),
        )


def from_scontrol(text: str) -> Iterator[Node]:
    """`scontrol show node`, with or without -o. Of a key that stands there twice (a reason may hold anything) the first counts."""
    for record in re.split(r"(?m)^(?=NodeName=)", text):
        found: dict[str, str] = {}
        for key, value in FIELD.findall(record):
            found.setdefault(key, value)
        if found.get("NodeName"):
            node = node_of(
                found["NodeName"],
                found.get("CfgTRES", ""),
                found.get("Gres", ""),
                (found.get("CPUTot", ""), found.get("RealMemory", "")),
                found.get("Partitions", "").split(","),
            )
            told = (found.get(key, "") for key in ("NodeAddr", "NodeHostName", "InstanceId", "InstanceType"))
            yield replace(node, machine=machine_of(node.name, *told))


def from_sinfo(text: str) -> Iterator[Node]:
    """`sinfo -N -O NodeList,Partition,CPUsState,Memory,Gres` or the like, with a header; a node of several partitions has several lines."""
    found: dict[str, Node] = {}
    for row in rows_of(text, "reason"):
        cpus = (row.get("cpus", "") or row.get("cpus(a/i/o/t)", "")).rpartition("/")[2]
        partition = row.get("partition", "").rstrip("*")
        for name in nodes_of(row.get("nodelist", "") or row.get("nodenames", "")):
            before = found[name].partitions if name in found else ()
            memory = row.get("memory", "").rstrip("+")
            found[name] = node_of(name, "", row.get("gres", ""), (cpus, memory), (*before, partition))
    yield from found.values()


def from_rest(entries: Iterable[Mapping[str, Any]]) -> Iterator[Node]:
    for entry in entries:
        sizes = (str(entry.get("cpus", "")), str(entry.get("real_memory", "")))
        partitions = entry.get("partitions") or ()
        node = node_of(
            str(entry.get("name", "")), str(entry.get("tres") or ""), str(entry.get("gres") or ""), sizes, partitions
        )
        told = (str(entry.get(key) or "") for key in ("address", "hostname", "instance_id", "instance_type"))
        yield replace(node, machine=machine_of(node.name, *told))


def machine_of(name: str, address: str, host: str, instance: str, kind: str) -> tuple[tuple[str, str], ...]:
    """What Slurm says beyond the node's name: where it is reached, and, where a cloud plugin set it, which instance it is."""
    labels = {
        "slurm.ip": address if elsewhere(address) else "",
        "slurm.hostname": next((each for each in (host, address) if each != name and not is_address(each)), ""),
        "slurm.instance_id": instance,
        "slurm.instance_type": kind,
    }
    return tuple((key, value) for key, value in labels.items() if value not in NOT_SET)


def is_address(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


def elsewhere(text: str) -> bool:
    """An address that other machines do not have, too."""
    return is_address(text) and not ip_address(text).is_loopback


def node_of(name: str, tres: str, gres: str, sizes: tuple[str, str], partitions: Iterable[str]) -> Node:
    """Configured TRES where there are any; GPUs by GRES too, since TRES leave out what AccountingStorageTRES does not list."""
    try:
        has, devices = tres_of(tres), gres_of(gres)
    except InputError:
        has, devices = Tres(), gres_of(gres)
    cpus, memory = (int(size) if size.isdecimal() else 0 for size in sizes)
    return Node(
        name,
        replace(
            has,
            cpus=has.cpus or Fraction(cpus),
            memory=memory * MEGA or has.memory,  # TRES write 502.93G
            nodes=1,
            gpus=devices.gpus or has.gpus,
            parts=devices.parts or has.parts,
        ),
        tuple(dict.fromkeys(filter(None, partitions))),
    )
