"""What each event says, by example: templates are tried on these before anything happens."""

from collections.abc import Mapping
from typing import Any

COMMON = {"id": "an event and what it is about", "at": "2026-11-03T08:00:00Z"}
SAID: Mapping[str, Mapping[str, Any]] = {
    "period.closed": {
        "period": "2026-10", "policy": "1a2b3c4d5e6f", "link": "/statements?period=2026-10",
        "teams": [{"team": "vision", "currency": "USD", "amount": "1204.5"}],
    },
    "statement.issued": {
        "team": "vision", "period": "2026-10", "currency": "USD", "owed": "1204.5", "charged": "1204.5", "mode": "chargeback",
        "number": "2026-10-0007", "link": "/statements/2026-10/vision",
    },
    "quota.reached": {
        "team": "vision", "project": "", "what": "gpu", "unit": "GPU-hours", "limit": "400", "used": "321.5", "mark": "80", "per": "month",
        "from": "2026-10-01", "until": "2026-10-31", "estimated": False, "link": "/quotas?period=2026-10",
    },
    "budget.reached": {
        "team": "vision", "project": "", "period": "2026-10", "currency": "USD", "budget": "1000", "spent": "812.25", "mark": "80",
        "estimated": True, "link": "/teams/vision?period=2026-10",
    },
    "anomaly.found": {
        "anomaly": "e01ec309ef", "kind": "spend", "team": "vision", "day": "2026-10-12", "until": "2026-10-12", "currency": "USD",
        "amount": "900", "usual": "100", "above": "800", "causes": {"volume": "800"}, "pool": "gpus",
        "estimated": False, "text": "vision stands out on 2026-10-12.", "link": "/anomalies?id=e01ec309ef",
    },
    "policy.changed": {
        "policy": "research-cluster", "version": "1a2b3c4d5e6f", "effective": "2026-11-01", "link": "/policy",
        "changes": ["pools.gpus.method changes from proportional to capacity_rate; from 2026-11-01 on"],
    },
    "data.late": {
        "source": "slurm", "kind": "slurm", "behind": 3, "missing": 0, "text": "slurm is 3 days behind.", "link": "/health",
    },
    "data.health": {
        "source": "slurm", "kind": "slurm", "rows": 4, "problems": {"bad-time": 4}, "day": "2026-11-02", "link": "/health",
    },
    "notify.test": {"link": "/"},
}  # fmt: skip


def sample(event: str) -> dict[str, Any]:
    return {"event": event, **COMMON, **SAID[event]}
