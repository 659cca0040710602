"""The table of what each method promises, made from what the methods say of themselves."""

from apportion.engine.sharing import METHODS

AXIOMS = (
    "efficiency",
    "symmetry",
    "null player",
    "additivity",
    "demand monotonicity",
    "split-proofness",
    "split-proofness in time",
    "time-shift safety",
    "stand-alone",
    "core",
)
SHOWN = (
    "even",
    "proportional",
    "capacity_rate",
    "max_request_usage",
    "two_part",
    "rate_card",
    "time_of_use",
    "coincident_peak",
    "noncoincident_peak",
    "temporal_shapley",
    "peak_shapley",
)


def table() -> str:
    rows = [
        ["method", *AXIOMS],
        ["---"] * (1 + len(AXIOMS)),
        *([f"`{name}`", *(promise(name, axiom) for axiom in AXIOMS)] for name in SHOWN),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def promise(name: str, axiom: str) -> str:
    method = METHODS[name]
    holds, breaks = (any(said.split(":")[0] == axiom for said in part) for part in (method.holds, method.breaks))
    return {(True, True): "partly", (True, False): "yes", (False, True): "no", (False, False): "-"}[holds, breaks]


if __name__ == "__main__":
    print(table(), end="")
