"""Faults by which shares go wrong while every sum is the bill: rows, labels, clusters and teams that are lost on the way."""

from tests.property.planting import Fault

FAULTS_OF_MONEY = (
    Fault(
        "rows of a workload that nobody describes are dropped",
        "engine/encode.py",
        '.left_join(workloads, "workload")',
        '.join(workloads, "workload")',
        seed=50,
    ),
    Fault(
        "equal rows are merged",
        "engine/encode.py",
        "joined = usage.mutate(",
        "joined = usage.distinct().mutate(",
        seed=6,
    ),
    Fault(
        "use without allocation is dropped",
        "engine/encode.py",
        "        usage.meter.isin(meters),\n",
        "        usage.meter.isin(meters),\n        usage.allocated.notnull(),\n",
        seed=31,
    ),
    Fault(
        "capacity is that of another cluster",
        "engine/clusters.py",
        "keys = [names.keys[cluster or DEFAULT, name] for cluster, name in pairs]",
        "keys = [max(key for (_, own), key in names.keys.items() if own == name) for _, name in pairs]",
        seed=19,
    ),
    Fault(
        "a resource is known by its name alone",
        "engine/clusters.py",
        "    if not names.renamed:\n",
        "    if names.keys:\n",
        seed=6,
    ),
    Fault(
        "labels that prices and weights ask for are lost",
        "engine/workloads.py",
        "facet_labels(priced_facets(policy)) | pricing_labels(policy)",
        "facet_labels(priced_facets(policy))",
        seed=0,
    ),
    Fault(
        "sets of labels are ignored",
        "engine/label_sets.py",
        "    if not len(sets):\n        return world\n",
        "    if True:\n        return world\n",
        seed=32,
    ),
    Fault(
        "the floor of a team without charges is forgotten",
        "engine/transfers.py",
        "sizes_of(owed) or sizes_of(bill_days(account, rule, books))",
        "sizes_of(owed)",
        seed=2,
    ),
    Fault(
        "a cap counts what a team pays as sponsor",
        "engine/transfers.py",
        'ADJUSTABLE = ("usage", "burst", "idle", "overhead", "credit", "adjustment")',
        'ADJUSTABLE = ("usage", "burst", "idle", "overhead", "credit", "adjustment", "subsidy")',
        seed=7,
    ),
    Fault(
        "even idle reaches teams that used nothing",
        "engine/idle.py",
        "teams = {bearers[bearer].owner.at_team() for bearer in users if not bearers[bearer].owner.is_system}",
        "teams = {one.owner.at_team() for one in bearers.all if not one.owner.is_system}",
        seed=1,
    ),
    Fault(
        "money of a node that nobody used is spread",
        "engine/setting.py",
        "if n in inside or name in nodes}",
        "if n in inside}",
        seed=2,
    ),
    Fault(
        "tax follows what was owed before lending",
        "engine/followers.py",
        '"overhead", "credit")',
        '"overhead")',
        seed=64,
    ),
)
