"""The worlds: ordinary logs, bills and policies whose shares anybody can work out on paper."""

from tests.by_hand.worlds import CAPACITY, LOG, SOURCE, HandWorld, job, line, node

CAPACITY_RATE = "costs: {ServiceName: n}, usage: {node: 'n*'}, meter: gpu, method: capacity_rate"
BY_RESOURCE = "costs: {ServiceName: n}, usage: {node: 'n*'}, meter: gpu, scope: resource, method"
TWO_CLUSTERS = """pools:
  big: {costs: {ServiceName: n}, usage: {cluster: A}, meter: gpu, method: capacity_rate}
  small: {costs: {ServiceName: m}, usage: {cluster: B}, meter: gpu, method: capacity_rate}
"""
LENDING = """reservations: [{team: a, pool: g, meter: gpu, amount: 10, from: 2026-10-05, until: 2026-10-05}]
pools:
  g: {costs: {ServiceName: n, ChargeCategory: Usage}, usage: {node: 'n*'}, meter: gpu, method: two_part}
"""
USED = "job,node,start,end,account,gpu,used"
MEASURED = 'used_meters = { gpu = "used" }'
HALF_MEASURED = (job("1", "n1", "00 24", "a", "100", "50"), job("2", "n1", "00 24", "b", "", "100"))

CASES = {
    "rows of one job that differ in their end": HandWorld(
        "a ran 2 h and 3 h, b 1 h: 6 GPU hours cost 600",
        (line("600"),),
        (job("1", "n1", "00 02", "a"), job("1", "n1", "00 03", "a"), job("2", "n1", "00 01", "b")),
        {"a": "500", "b": "100"},
        findings=("possible-repeats",),
    ),
    "equal rows are two rows": HandWorld(
        "one row a board: a held two boards for 2 h, b one for 2 h",
        (line("600"),),
        (job("1", "n1", "00 02", "a"), job("1", "n1", "00 02", "a"), job("2", "n1", "00 02", "b")),
        {"a": "400", "b": "200"},
        findings=("possible-repeats",),
    ),
    "equal rows that the stanza counts": HandWorld(
        "the same, and the stanza says that repeats count: nothing is left to tell",
        (line("600"),),
        (job("1", "n1", "00 02", "a"), job("1", "n1", "00 02", "a"), job("2", "n1", "00 02", "b")),
        {"a": "400", "b": "200"},
        stanza='repeats = "count"',
    ),
    "equal rows of one key are one row": HandWorld(
        "the stanza names a key, so a's row counts once",
        (line("600"),),
        (job("1", "n1", "00 02", "a"), job("1", "n1", "00 02", "a"), job("2", "n1", "00 02", "b")),
        {"a": "300", "b": "300"},
        stanza='key = ["job"]',
    ),
    "weights that are all 0": HandWorld(
        "a held 3 GPU hours and b 1; both weigh 0, so that weights say nothing: 300 and 100, and the plan says so",
        (line("400"),),
        (job("1", "n1", "00 03", "a"), job("2", "n1", "00 01", "b")),
        {"a": "300", "b": "100"},
        pool="costs: {ServiceName: n}, usage: {node: 'n*'}, meter: gpu, method: proportional, weights: {team: {a: 0, b: 0}}",
        findings=("weights-cancel",),
    ),
    "weights of which one is 0": HandWorld(
        "the same, and b weighs 1: b pays all of it, as the policy says",
        (line("400"),),
        (job("1", "n1", "00 03", "a"), job("2", "n1", "00 01", "b")),
        {"b": "400"},
        pool="costs: {ServiceName: n}, usage: {node: 'n*'}, meter: gpu, method: proportional, weights: {team: {a: 0, b: 1}}",
    ),
    "one job id of two users": HandWorld(
        "job 1 is a's for 2 h and later b's for 1 h",
        (line("300"),),
        (job("1", "n1", "00 02", "a"), job("1", "n1", "05 06", "b")),
        {"a": "200", "b": "100"},
    ),
    "idle shared evenly over who used the pool": HandWorld(
        "90 for the first 12 h of one GPU: a used 6 of them (45); the other 45 are shared evenly by a and b, who used the pool that month",
        (line("90", "00 12"),),
        (job("1", "n1", "00 06", "a"), job("2", "n1", "12 24", "b")),
        {"a": "67.5", "b": "22.5"},
        pool=f"{CAPACITY_RATE}, idle: even",
        nodes=(node("n1", 1),),
    ),
    "a floor holds for a team that never ran": HandWorld(
        "only a ran; b owes at least 500, which c pays for",
        (line("1000"),),
        (job("1", "n1", "00 10", "a"),),
        {"a": "1000", "b": "500", "c": "-500"},
        policy="pools:\n  g: {costs: {ServiceName: n}, usage: {node: 'n*'}, meter: gpu, method: proportional}\n"
        "adjustments: [{team: b, floor: 500, sponsor: c, why: agreed}]\n",
    ),
    "the money of an unused node stays there": HandWorld(
        "n1 costs 100 and a used it; n2 costs 900 and nobody did",
        (line("100", resource="n1"), line("900", resource="n2")),
        (job("1", "n1", "00 10", "a"),),
        {"a": "100", "_unallocated": "900"},
        pool=f"{BY_RESOURCE}: proportional",
    ),
    "the money of a node without capacity stays there": HandWorld(
        "n1 has 2 GPUs and a held one of them all day: 50, and 50 are idle; of n2 nobody knows the size, and nobody used it",
        (line("100", resource="n1"), line("900", resource="n2")),
        (job("1", "n1", "00 24", "a"),),
        {"a": "50", "_idle": "950"},
        pool=f"{BY_RESOURCE}: capacity_rate",
        nodes=(node("n1", 2),),
    ),
    "use without allocation, by use": HandWorld(
        "a used 50 and b 100",
        (line("150"),),
        HALF_MEASURED,
        {"a": "50", "b": "100"},
        pool="costs: {ServiceName: n}, usage: {node: 'n*'}, meter: gpu, method: proportional, driver: used",
        log=USED,
        stanza=MEASURED,
    ),
    "use without allocation, by the larger": HandWorld(
        "a held 100, b used 100",
        (line("200"),),
        HALF_MEASURED,
        {"a": "100", "b": "100"},
        pool="costs: {ServiceName: n}, usage: {node: 'n*'}, meter: gpu, method: proportional, driver: max",
        log=USED,
        stanza=MEASURED,
    ),
    "use without allocation, by a blend": HandWorld(
        "a counts 75 (half of 100 and half of 50), b 100 (all that is stated)",
        (line("175"),),
        HALF_MEASURED,
        {"a": "75", "b": "100"},
        pool="costs: {ServiceName: n}, usage: {node: 'n*'}, meter: gpu, method: proportional, driver: {blend: 0.5}",
        log=USED,
        stanza=MEASURED,
    ),
    "use without allocation, by allocation": HandWorld(
        "a held 100; of b only the use of 100 is stated",
        (line("200"),),
        HALF_MEASURED,
        {"a": "100", "b": "100"},
        log=USED,
        stanza=MEASURED,
    ),
    "a capacity rate without capacity": HandWorld(
        "a used 10 of the 24 hours; how many GPUs there are nobody knows, so only hours without any use are idle, and the plan says so",
        (line("100"),),
        (job("1", "n1", "00 10", "a"),),
        {"a": "41.67", "_idle": "58.33"},
        pool=CAPACITY_RATE,
        findings=("no-capacity",),
    ),
    "more used than there is": HandWorld(
        "n1 has one GPU, and a and b each held one all day: each pays half, and the plan says so",
        (line("100"),),
        (job("1", "n1", "00 24", "a"), job("2", "n1", "00 24", "b")),
        {"a": "50", "b": "50"},
        pool=CAPACITY_RATE,
        nodes=(node("n1", 1),),
        findings=("used-above-capacity",),
    ),
    "tax follows what is owed after lending": HandWorld(
        "a reserves all 10 GPUs and uses 5, b borrows 5: each owes 50, and so each pays half of the tax of 10",
        (line("100"), line("10", category="Tax")),
        (job("1", "n1", "00 24", "a", "5"), job("2", "n1", "00 24", "b", "5")),
        {"a": "55", "b": "55"},
        policy=LENDING,
        nodes=(node("n1", 10),),
    ),
    "two clusters that both have a node g01": HandWorld(
        "A's node costs 800 and a holds 4 of its 8 GPUs all day; B's costs 80 and b holds all 8",
        (line("800"), line("80", service="m")),
        (job("1", "g01", "00 24", "a", "4", "A"), job("2", "g01", "00 24", "b", "8", "B")),
        {"a": "400", "b": "80", "_idle": "400"},
        policy=TWO_CLUSTERS,
        log=f"{LOG},cluster",
        stanza="",
        files={
            "apportion.toml": '[project]\nname = "by-hand"\n\n[[sources]]\nname = "bill"\nkind = "focus"\npath = "bill.csv"\n'
            + SOURCE.format(name="jobs", more="").replace('end = "end" }', 'end = "end", cluster = "cluster" }')
            + CAPACITY.replace('meter = "meter" }', 'meter = "meter", cluster = "cluster" }'),
            "nodes.csv": "\n".join(("node,start,end,gpus,meter,cluster", node("g01", 8, "A"), node("g01", 8, "B"), "")),
        },
    ),
}
