"""What each case of AmadeusITGroup/cloud-cost-allocation means, as pools that serve others. Amounts and weights are read from its files.

`lines` says which rows of its bill a pool has. `serves` says whom it serves, each with the row of its keys that holds the weight. `ends` says in which
rows of its result the money of an end stands. Its selectors are Python: what they select is written here, and nothing is evaluated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Rows = tuple[int, ...]


@dataclass(frozen=True)
class Meant:
    about: str
    ends: Mapping[str, Rows]
    lines: Mapping[str, Rows] = field(default_factory=dict)
    serves: Mapping[str, Mapping[str, Rows]] = field(
        default_factory=dict
    )  # pools in the order in which they pass their money on
    shared: Mapping[str, Any] = field(default_factory=dict)  # pools of other methods
    bases: tuple[str, ...] = ("effective",)
    why: str = ""


CASES = {
    "test1": Meant(
        "A chain of shared services: containers, monitoring and history end with two products.",
        lines={"machines": (1,), "disks": (2,)},
        serves={
            "machines": {"web": (1,), "reporting": (2,), "history": (3,), "monitoring": (4,)},
            "disks": {"history": (5,), "monitoring": (6,)},
            "monitoring": {"web": (7,), "reporting": (8,), "history": (9,)},
            "history": {"web": (10,), "reporting": (11,)},
            "web": {"web b2b": (12,), "web b2c": (13,)},
            "reporting": {"reporting b2b": (14,), "reporting b2c": (15,)},
        },
        ends={"reporting b2b": (11,), "reporting b2c": (12,), "web b2b": (16,), "web b2c": (17,)},
        why="which resource a key means is written into the policy; meters and tags of the keys are not carried on to the lines",
    ),
    "test2": Meant(
        "Products of services that serve other services' products.",
        lines={"one": (1,), "two": (2,), "three x": (3,), "three y": (4,), "three z": (5,), "three": (6,), "four": (7,), "five": (8,)},
        serves={
            "four": {"two": (5, 10, 14)},
            "three": {"product1 X": (4,), "product1 Y": (9,), "product2": (13,)},
            "three x": {"product1 X": (3,)},
            "three y": {"product1 Y": (8,)},
            "three z": {"product2": (12,)},
            "two": {"product1 X": (2,), "product1 Y": (7,), "product2": (11,)},
            "one": {"product1 X": (1,), "product1 Y": (6,)},
            "five": {"product3": (15,), "six": (16,)},
            "six": {"product4": (17,)},
        },
        ends={"product1 X": (2,), "product1 Y": (4,), "product2": (13,), "product3": (23,), "product4": (25,)},
        why="which product a service's use was for is written into the policy; Apportion finds no likeness of meters by itself",
    ),
    "test3": Meant(
        "Unused reservations by the cost of what they cover, and a shared service by the cost of its users; at effective and at list prices.",
        lines={"x": (1,), "shared1": (2,), "application1": (3, 4), "application2": (5,), "reservation": (6, 7, 8, 9), "y": (10,), "plan": (11,)},
        shared={
            "own": {"costs": {"ServiceName": ["x", "y", "plan", "shared1", "application*"]}, "method": "direct"},
            "reservation": {"costs": {"ServiceName": "reservation"}, "by": "cost", "over": ["x", "shared1", "application1", "application2"]},
            "platform": {"costs": {"ServiceName": "none"}, "from": {"owner": "shared1"}, "by": "cost", "over": ["x", "application1", "application2"]},
        },
        ends={"x": (20, 19, 18), "application1": (2,), "application2": (3,), "plan": (8,), "y": (21,)},
        bases=("effective", "list"),
        why="its key of 100 for `x` is the cost that `x` has in the case; the savings plan that nobody used stays with its own owner",
    ),
    "test5": Meant(
        "Three services that serve each other: what would return is left out, in an order that is agreed.",
        lines={"a": (1,)},
        serves={"a": {"b": (1,), "c": (2,)}, "b": {"a": (3,), "c": (4,), "d by b": (5,)}, "c": {"b": (6,), "d by c": (7,)}},
        ends={"d by b": (5,), "d by c": (6,)},
    ),
    "test6": Meant(
        "One product with dimensions and several meters, through two services.",
        lines={"a": (1,)},
        serves={
            "a": {"b e1": (1,), "b e2": (2,), "c x0 y0": (6,), "c x0 y1": (7,), "c x1": (8,), "c f3": (9,)},
            "b e1": {"b x": (3,), "b y": (4,)},
            "b e2": {"b z": (5,)},
            "c x1": {"c x1 y0": (12,), "c x1 y1": (13,)},
        },
        ends={
            "b x": (4,), "b y": (5,), "b z": (6,), "c x0 y0": (11,), "c x0 y1": (12,), "c x1 y0": (13,), "c x1 y1": (14,), "c f3": (15,),
        },
        why="which dimension a service's use was for is written into the policy; Apportion finds no likeness of meters by itself",
    ),
    "test8": Meant(
        "Default products: what a service keeps for itself goes to a product that is named beside it.",
        lines={"container": (1,)},
        serves={
            "container": {
                "app1": (1,), "app2": (2,), "a3i1": (3,), "a3i2": (4,), "app4": (5,), "app5": (6,), "app6": (7,), "plf1": (8,), "plf2": (9,),
                "container p0": (10,),
            },
            "plf1": {"a3i1": (12,), "a3i2": (13,)},
            "plf2": {"app5": (16,), "app6": (17,)},
            "a3i1": {"p3": (14,)},
            "a3i2": {"app4": (15,)},
            "app1": {"p1": (11,)},
            "app4": {"p4": (21,), "p5": (22,)},
            "app5": {"p6": (18,), "app6": (19,)},
            "app6": {"p7": (24,), "p8": (25,)},
        },
        ends={"p1": (2,), "app2": (4,), "p3": (7,), "p4": (12,), "p5": (13,), "p6": (16,), "p7": (20,), "p8": (21,), "container p0": (23,)},
        why="which product stands for what a service keeps is written into the policy",
    ),
    "test9": Meant(
        "Three platforms that serve each other, untangled by naming what is upstream of each.",
        lines={"container": (1,)},
        serves={
            "container": {"container-mgt": (1,), "app by container": (2,), "monitor": (3,), "log": (4,)},
            "container-mgt": {"app by container-mgt": (5,), "monitor": (6,), "log": (7,)},
            "monitor": {"monitor-mgt": (11,), "app by monitor": (12,), "container-ups": (13,), "log": (14,)},
            "monitor-mgt": {"app by monitor-mgt": (15,), "container-ups": (16,), "log": (17,)},
            "log": {"log-mgt": (21,), "app by log": (22,), "container-ups": (23,), "monitor-ups": (24,)},
            "log-mgt": {"app by log-mgt": (25,), "container-ups": (26,), "monitor-ups": (27,)},
            "monitor-ups": {"app by monitor-ups": (18,), "container-ups": (19,), "log": (20,)},
            "container-ups": {"app by container-ups": (8,), "monitor": (9,), "log": (10,)},
        },
        ends={
            "app by container": (1,), "app by container-mgt": (2,), "app by container-ups": (3,), "app by monitor": (4,),
            "app by monitor-mgt": (5,), "app by monitor-ups": (6,), "app by log": (7,), "app by log-mgt": (8,),
        },
        why="the upstream pools and their order are written into the policy; nothing untangles by itself",
    ),
    "test11": Meant(
        "Products that select by tags of the consumer; what no selector takes follows what they took.",
        lines={"s1": (1,)},
        serves={"s1": {"s2 foo1": (1,), "s2 foo3": (3,), "s2 other": (2, 4)}, "s2 foo1": {"p3": (5,)}, "s2 foo3": {"p5": (7,)}},
        shared={"s2 other": {"costs": {"ServiceName": "s2 other"}, "by": "cost", "over": ["p3", "p5"]}},
        ends={"p3": (6,), "p5": (8,)},
        why="tags of consumers are pools of the policy here",
    ),
}  # fmt: skip
