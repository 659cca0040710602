"""The policy of a world, as the YAML a person would write."""

import json
import random
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from apportion.policy.methods import VALUES_HOURS, VALUES_TEAMS
from tests.property.worlds_scene import Scene

Map = dict[str, Any]
SPONSOR = "office"


def draw_policy(dice: random.Random, scene: Scene) -> tuple[Map, dict[str, Decimal]]:
    pools = draw_pools(dice, scene)
    adjustments = draw_adjustments(dice, scene, list(pools))
    rules: Map = {
        "policy": "generated",
        "effective": date(2026, 1, 1),
        "currency": "USD",
        "time_zone": scene.zone,
        "basis": dice.choice(("effective", "effective", "effective", "billed", "list")),
        "teams": {team: draw_team(dice, i) for i, team in enumerate((*scene.teams, SPONSOR))},
        "carried_by": {"_idle": SPONSOR, "_unallocated": SPONSOR, "_residual": SPONSOR},
        "owners": draw_owners(dice, scene),
        "facets": [
            {"when": {"step": "tune*"}, "phase": "tuning"},
            {"when": {"step": ["train", "x"]}, "phase": "training"},
            {"when": {"qos": "preemptible", "not": {"step": "notebook"}}, "phase": "data"},
        ],
        "reservations": draw_reservations(dice, scene, pools),
        "pools": pools,
        "adjustments": adjustments,
    }
    previous = {team: Decimal(dice.choice((0, 10, 1000, 100_000))) for team in scene.teams if dice.random() < 0.8}
    smooth = any("smooth" in rule for rule in adjustments)
    return rules, previous if smooth else {}


def write_policy(rules: Map) -> str:
    return "".join(f"{key}: {flow(value)}\n" for key, value in rules.items() if value not in ([], {}))


def flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    return value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)


def draw_team(dice: random.Random, index: int) -> Map:
    team: Map = {"department": dice.choice(("research", "products")), "cost_centre": dice.choice(("4711", "0815"))}
    if dice.random() < 0.5:
        team["class"] = dice.choice(("internal", "external"))
    return team if index or dice.random() < 0.8 else {"department": "research"}


def draw_owners(dice: random.Random, scene: Scene) -> list[Map]:
    account = dice.choice(("slurm.account", "account"))
    rules: list[Map] = [
        {
            "when": {account: f"{team}*"},
            "team": team,
            **dice.choice(
                ({"project": "{slurm.wckey}", "user": "{user}"}, {"user": "{slurm.user}"}, {"project": "all"}, {})
            ),
        }
        for team in scene.teams
    ]
    turn = dice.choice(scene.days)
    rules += [
        {"when": {account: "roam"}, "team": scene.teams[0], "until": turn},
        {
            "when": {account: ["roam", "rove"]},
            "team": scene.teams[-1],
            "project": "{slurm.wckey}",
            "from": turn + timedelta(days=1),
        },
    ]
    rules += [{"when": {"tag.team": team}, "team": team, "project": "{tag.node-group}"} for team in scene.teams]
    if dice.random() < 0.5:
        rules.insert(dice.randrange(2), {"when": {"lent_to": "*"}, "team": "{lent_to}"})
    return rules


def draw_reservations(dice: random.Random, scene: Scene, pools: Map) -> list[Map]:
    wide = [name for name in ("gpus", "h100", "a100") if name in pools]
    if not wide or dice.random() < 0.5:
        return []
    days: Map = {"from": dice.choice(scene.days)} if dice.random() < 0.5 else {}
    if dice.random() < 0.5:
        days["until"] = scene.days[-1]
    return [
        {
            "team": dice.choice(scene.teams),
            "pool": dice.choice(wide),
            "meter": scene.gpu_meters[0],
            "amount": dice.choice((1, 2, "3/7" if scene.gpu_meters[0] == "gpu" else "0.5", 16)),
            **days,
        }
    ]


# pools


def draw_pools(dice: random.Random, scene: Scene) -> Map:
    pools = draw_gpu_pools(dice, scene)
    extras: Map = {
        "storage": lambda: {
            "costs": {"ServiceName": ["S3", "Colo S3"]}, **dice.choice(({}, {"usage": {"resource": "fs-*"}})), "meter": "storage",
            **draw_sharing(dice, dice.choice(("proportional", "capacity_rate", "time"))),
        },
        "network": lambda: {
            "costs": {"ServiceName": "*Net"}, "usage": {"resource": "net-*"}, "meter": "network",
            **draw_sharing(dice, dice.choice(("proportional", "capacity_rate"))),
        },
        "energy": lambda: draw_two_energies(dice, scene) if scene.two_energies else {
            "costs": {"ServiceName": "*Power"}, "usage": {"node": "*-gpu*"}, **dice.choice(({"meter": "energy"}, {"meter": "gpu", "component": "other"})),
            **draw_sharing(dice, "proportional"),
        },
        "licences": lambda: {"costs": {"ServiceName": "*MATLAB"}, **draw_table(dice, scene)},
        "tagged": lambda: {"costs": {"ServiceName": "*Tagged"}, "method": "direct"},
        "cards": lambda: {
            "usage": {"resource": "llm-*"}, "meter": "tokens", "method": "rate_card", "prices": [{"per": "unit", "price": dice.choice(("0.000001", "0.37"))}],
        },
        "platform": lambda: {"costs": draw_support(dice), **draw_from(dice, scene), "by": "cost", "over": dice.choice(("all", [scene.teams[0]], "all"))},
        "rest": lambda: {"costs": "otherwise", **dice.choice(({"by": "cost", "over": "all"}, {"method": "even"}))},
    }  # fmt: skip
    for name in ("storage", "network", "energy", "licences", "tagged", "cards", "platform", "rest"):
        if name in scene.extras:
            pools[name] = extras[name]()
    return draw_services(dice, scene, pools) if scene.services else pools


def draw_services(dice: random.Random, scene: Scene, pools: Map) -> Map:
    """Up to three pools serve some of the others, each other and themselves."""
    serving = [name for name in ("network", "storage", "licences") if name in pools][: dice.choice((1, 2, 3))]
    ends = [name for name in pools if name not in (*serving, "tagged")]
    for name in serving:
        served = {end: dice.choice((1, "0.3", 20)) for end in dice.sample(ends, dice.randint(1, len(ends)))}
        served |= {other: dice.choice((0, 1, 7, "2.5")) for other in serving if dice.random() < 0.7}
        component: Map = {"component": "other"} if dice.random() < 0.3 else {}
        pools[name] = {"costs": pools[name]["costs"], "method": scene.services, "serves": served, **component}
    return pools


def draw_two_energies(dice: random.Random, scene: Scene) -> Map:
    held = scene.gpu_meters[0]
    return {
        "costs": {"ServiceName": "*Power"}, "usage": {"node": "*"}, "meter": {held: dice.choice((1, 3)), "energy": 1},
        "static_share": dice.choice(("0.3", 0, 1, "1/7")), **draw_sharing(dice, "energy_two_part"),
    }  # fmt: skip


def draw_support(dice: random.Random) -> Map:
    """With a category named, the pool claims lines that would otherwise follow."""
    return dice.choice(
        (
            {"ServiceName": "*Support"},
            {"ServiceName": "*Support", "ChargeCategory": ["Usage", "Purchase"]},
            {"ServiceName": "*Support", "not": {"ChargeCategory": "Tax"}},
        )
    )


def draw_from(dice: random.Random, scene: Scene) -> Map:
    return (
        {"from": {"owner": dice.choice((SPONSOR, scene.teams[-1]))}}
        if len(scene.teams) > 1 and dice.random() < 0.5
        else {}
    )


def draw_table(dice: random.Random, scene: Scene) -> Map:
    if dice.random() < 0.5:
        return {"method": "even", **dice.choice(({}, {"members": list(scene.teams)}))}
    shares = {team: dice.choice((10, "12.5", "23.33", 25)) for team in scene.teams}
    return {
        "method": "fixed",
        "shares": shares if dice.random() < 0.7 or len(shares) < 2 else dict.fromkeys(list(shares)[:2], 50),
    }


def draw_gpu_pools(dice: random.Random, scene: Scene) -> Map:
    meter: Any = scene.gpu_meters[0] if len(scene.gpu_meters) == 1 else {"gpu": 9, "cpu": "0.9", "memory": "0.1"}
    service = ["EC2", "Colo EC2"]

    def pool(costs: Map, usage: Map) -> Map:
        found: Map = {"costs": costs, "meter": meter, **draw_sharing(dice, scene.gpu_method, scene)}
        if usage:
            found["usage"] = usage
        return found

    if scene.gpu_layout == "two":
        return {
            kind: pool({"ServiceName": service, "tag.node-group": kind}, {"node": f"{kind}-*"})
            for kind in ("h100", "a100")
        }
    usages: dict[str, Map] = {
        "one": {"node": "*-gpu*"},
        "label": {"gpu_model": ["H100", "A100"]},
        "lines": {},
        "partition": {"partition": "dgx"},
    }
    return {"gpus": pool({"ServiceName": service}, usages[scene.gpu_layout])}


def draw_sharing(dice: random.Random, method: str, scene: Scene | None = None) -> Map:
    """How a metered pool is shared; `scene` is given for the GPU pools, which get everything."""
    found: Map = {"method": method} if method != "capacity_rate" or dice.random() < 0.7 else {}
    driver = dice.choice(("allocated", "used", "used", "max", {"blend": "0.5"}, {"blend": "0.3"}))
    if dice.random() < 0.7 and method != "energy_two_part":
        found["driver"] = driver
    if method != "rate_card" and dice.random() < 0.5:
        found["slot"] = dice.choice(
            ("day", "hour") if method in (*VALUES_HOURS, *VALUES_TEAMS) else ("period", "day", "hour")
        )
    found |= draw_own(dice, method)
    if scene is None:
        return found
    if method not in ("rate_card", "two_part") and scene.gpu_scope == "resource":
        found["scope"] = "resource"
    if dice.random() < 0.4:
        found["weights"] = draw_weights(dice)
    if dice.random() < 0.5:
        most: Map = {"max_hours": dice.choice((1, "0.5", 4))} if dice.random() < 0.6 else {}
        found["credit"] = [{"outcome": "node_fail", "percent": dice.choice((100, "33.3")), **most, "paid_by": SPONSOR}]
    if dice.random() < 0.1:
        found["basis"] = dice.choice(("billed", "effective"))
    return found | (draw_prices(dice, scene) if method == "rate_card" else {})


def draw_own(dice: random.Random, method: str) -> Map:
    """What only some methods know."""
    if method == "two_part":
        return draw_bursts(dice)
    if method == "resource_weighted":
        return draw_idle(dice)
    if method == "capacity_rate":
        return draw_idle(dice)
    found = draw_hours(dice, method) if method in VALUES_HOURS else {}
    if method in VALUES_TEAMS:
        found["idle"] = dice.choice(("central", "proportional", "even"))
    if method != "rate_card" and dice.random() < 0.3:
        found["on_zero"] = dice.choice(("even", "unallocated"))
    return found


def draw_bursts(dice: random.Random) -> Map:
    found: Map = {"idle": dice.choice(("central", "proportional", "even"))}
    if dice.random() < 0.4:
        found["burst_price"] = dice.choice((0, "0.5", "37.123"))
    if dice.random() < 0.3:
        found["lend_credit"] = "false"
    if dice.random() < 0.3:
        found["idle_slot"] = dice.choice(("hour", "day"))
    return found


def draw_hours(dice: random.Random, method: str) -> Map:
    if method == "coincident_peak":
        return {"k": dice.choice((1, 2, 5, 1000)), "idle": dice.choice(("central", "proportional", "even"))}
    if method == "temporal_shapley":
        return {"weighted": dice.choice(("true", "false")), "idle": dice.choice(("central", "proportional", "even"))}
    dear: Map = {"from": dice.choice(("00:00", "06:00", "12:30")), "weight": dice.choice((0, 2, "0.7", 3))}
    return {
        "times": [
            {"days": dice.choice(("all", "weekdays", "weekends")), **dear, **dice.choice(({}, {"until": "20:00"}))},
            {"from": "18:00", "weight": dice.choice((0, "1/3"))},
        ][: dice.choice((1, 2))]
    }


def draw_idle(dice: random.Random) -> Map:
    found: Map = {}
    if dice.random() < 0.7:
        rule: Any = dice.choice(("central", "proportional", "even", "reservation", None, None, None))
        if rule is None:
            plain = ("central", "proportional", "even")
            rule = {
                "unsold": dice.choice(plain),
                "reserved": dice.choice((*plain, "holder")),
                "held": dice.choice((*plain, "holder")),
                "down": dice.choice(plain),
            }
        found["idle"] = rule
    if dice.random() < 0.3:
        found["idle_slot"] = dice.choice(("hour", "day"))
    return found


def draw_weights(dice: random.Random) -> Map:
    options: list[Map] = [
        {"phase": {"tuning": "0.8", "training": "1.2"}},
        {"qos": {"preempt*": "0.4"}},
        {"phase": {"*": "1/3"}, "qos": {"normal": 2}},
        {"gpu_model": {"H100": "2.5"}},
        {"phase": {"tuning": 0}},
    ]
    return dice.choice(options)


def draw_prices(dice: random.Random, scene: Scene) -> Map:
    turn = dice.choice(scene.days)
    prices: list[Map] = [{"when": {"class": "internal"}, "per": "hour", "price": "2.10"}]
    if dice.random() < 0.4:
        prices.append({"when": {"qos": "preemptible"}, "per": "hour", "price": "0.333", "from": turn})
    if dice.random() < 0.85:
        prices.append({"per": "hour", "price": dice.choice(("3", "0.0000001", "7.77"))})
    found: Map = {"prices": prices}
    if dice.random() < 0.5 and "when" not in prices[-1]:
        found["free"] = {
            "per": dice.choice(("user", "project", "team")),
            "amount": dice.choice(("1h", "100h", "0.5h")),
            "paid_by": SPONSOR,
        }
    return found


# adjustments


def draw_adjustments(dice: random.Random, scene: Scene, pools: list[str]) -> list[Map]:
    found: list[Map] = []
    for _ in range(dice.choice((0, 0, 1, 2))):
        team = dice.choice(scene.teams)
        kind = dice.choice(("percent", "percent", "when", "cap", "floor", "smooth"))
        rule: Map = {"when": {"qos": "preemptible"}} if kind == "when" else {"team": team}
        if kind in ("percent", "when"):
            rule["percent"] = dice.choice((-30, -100, 10, "12.5"))
            if dice.random() < 0.5:
                rule["pool"] = dice.choice(pools)
        else:
            rule[kind] = {
                "cap": dice.choice((1, "50.5")),
                "floor": dice.choice((1, 20_000)),
                "smooth": dice.choice((0, 20)),
            }[kind]
        if dice.random() < 0.4:
            rule[dice.choice(("until", "from"))] = dice.choice(scene.days)
        found.append({**rule, "sponsor": SPONSOR, "why": "generated"})
    return found + draw_grants(scene, pools)


def draw_grants(scene: Scene, pools: list[str]) -> list[Map]:
    """By dice of their own, so that the worlds of known seeds stay what they were but for them."""
    dice = random.Random(f"{scene.teams} {scene.days} {pools}")
    if dice.random() > 0.15:
        return []
    rule: Map = {"team": dice.choice(scene.teams), "grant": dice.choice((1, "33.3", 20_000))}
    if dice.random() < 0.5:
        rule["pool"] = dice.choice(pools)
    return [{**rule, "sponsor": SPONSOR, "why": "granted", "approver": "generated"}]
