"""`methods`: which ways to share there are, and all about one of them, with an example that is computed here and now."""

import json
from difflib import get_close_matches
from typing import Any

from apportion.engine.sharing import METHODS, Method, SplitError, solve
from apportion.engine.sharing.axioms import violation
from apportion.policy.document import Policy


def methods() -> list[dict[str, Any]]:
    """Which ways to share there are. One row per method; `policy` is how a policy writes it today, empty where only `split` knows it so far."""
    return [
        {
            "name": method.name,
            "formula": method.formula,
            "choose": method.choose,
            "policy": method.policy,
            "in_policy": bool(method.policy),
            "in_split": method.share is not None,
        }
        for method in METHODS.values()
    ]


def method(name: str) -> dict[str, str]:
    """All about one of them, with an example that is computed here: section titles and texts, in the order in which they are read."""
    found = METHODS.get(name)
    if found is None:
        near = get_close_matches(name, METHODS, 1)
        raise SplitError(
            "unknown_method",
            f"there is no method {name!r}",
            hint=f"did you mean {near[0]}?" if near else "`apportion methods` lists them",
        )
    return {
        "Formula": found.formula,
        "Choose it when": found.choose,
        "Holds": "\n".join(found.holds),
        "Breaks": "\n".join(broken(found, axiom) for axiom in found.breaks) or "nothing that is known",
        **({"Mind": found.mind} if found.mind else {}),
        "Idle": found.idle,
        "Burst": found.burst,
        "Reservation": found.reservation,
        "Where": where(found),
        "Example": example(found),
    }


def used_by(policy: Policy) -> dict[str, tuple[str, ...]]:
    """The pools that are shared by each method, under the names that `methods` lists."""
    ways = {method.policy: method.name for method in METHODS.values() if method.policy}
    found: dict[str, list[str]] = {}
    for pool, rules in policy.pools.items():
        driver = {"max": "driver: max", "blend": "driver: {blend: 0.5}"}.get(rules.driver.kind, "")
        for way in (rules.method.replace("by_cost", "by: cost"), driver):
            if way in ways:
                found.setdefault(ways[way], []).append(pool)
    return {name: tuple(pools) for name, pools in found.items()}


def where(method: Method) -> str:
    split = "in `split`" if method.share else "not in `split`, which sees no cost lines"
    return f"in a policy as `{method.policy}`; {split}" if method.policy else f"{split}; not yet in a policy"


def broken(method: Method, axiom: str) -> str:
    """The axiom, a problem, and what goes wrong in it, computed here and now."""
    given = method.breaks[axiom]
    problem = {
        "method": method.name,
        **method.example,
        "params": {},
        **given,
    }  # an example may name the method that stands in
    return f"{axiom}\n  {json.dumps(given, ensure_ascii=False)}\n  {violation(axiom, problem)}"


def example(method: Method) -> str:
    """The problem as `split` takes it, and its exact and posted shares."""
    problem = {"method": method.name, **method.example}
    solution = solve(problem)
    lines = [json.dumps(problem, ensure_ascii=False), ""]
    width = max(map(len, solution.minor))
    lines += [
        f"{owner:<{width}}  {posted:>12}  exactly {solution.exact[owner]}" for owner, posted in solution.minor.items()
    ]
    lines.append(f"{'bill':<{width}}  {sum(solution.minor.values()):>12}")
    return "\n".join(lines)
