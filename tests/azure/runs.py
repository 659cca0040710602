"""Exports as they lie in a container: runs of a period, each in a folder of its own with its manifest."""

import json
from collections.abc import Mapping
from uuid import UUID

PERIOD = "20261001-20261031"


def guid(number: int) -> str:
    return str(UUID(int=number, version=4))


def run(number: int, parts: Mapping[str, str], *, export: str = "costs/actual", period: str = PERIOD, timed: bool = True) -> dict[str, bytes]:  # fmt: skip
    """Run `number` was submitted on that day of October."""
    folder = f"{export}/{period}/" + (f"202610{number:02}0300/" if timed else "") + guid(number)
    data = {f"{folder}/{name}": text.encode() for name, text in parts.items()}
    name = export.rpartition("/")[2]
    manifest = {
        "manifestVersion": "2024-04-01",
        "exportConfig": {
            "exportName": name,
            "type": name.partition("-")[0].capitalize() + "Cost",
            "resourceId": f"/subscriptions/{guid(99)}/providers/Microsoft.CostManagement/exports/{name}",
        },
        "runInfo": {"submittedTime": f"2026-10-{number:02}T03:00:00.1234567Z", "runId": guid(number)},
        "blobs": [
            {"blobName": key, "byteCount": len(text), "dataRowCount": text.count(b"\n") - 1}
            for key, text in data.items()
        ],
    }
    return {**data, f"{folder}/manifest.json": json.dumps(manifest).encode()}
