"""Twenty people at once, in a process of their own: each asks for the next page as soon as the last one has come, over one kept connection."""

import asyncio
import json
import sys
import time
from statistics import quantiles
from typing import Any

import httpx

TIMEOUT_S = 120


async def person(address: str, key: str, paths: list[str], rounds: int) -> dict[str, list[float]]:
    """Seconds of each answer, by path, of one person."""
    seconds: dict[str, list[float]] = {path: [] for path in paths}
    async with httpx.AsyncClient(base_url=address, cookies={"apportion": key}, timeout=TIMEOUT_S) as client:
        for path in paths * rounds:
            start = time.perf_counter()
            answer = await client.get(path)
            seconds[path].append(time.perf_counter() - start)
            if answer.status_code != 200:
                raise SystemExit(f"{path}: {answer.status_code}")
    return seconds


async def crowd(asked: dict[str, Any]) -> dict[str, list[float]]:
    people = [person(asked["address"], one["key"], one["paths"], asked["rounds"]) for one in asked["people"]]
    seconds: dict[str, list[float]] = {}
    for found in await asyncio.gather(*people):
        for path, times in found.items():
            seconds.setdefault(path.split("?", maxsplit=1)[0].split("/")[1].rstrip("s") or "overview", []).extend(times)
    return seconds


def milliseconds(times: list[float]) -> dict[str, float]:
    cuts = quantiles(times, n=100, method="inclusive")
    named = {"p50_ms": cuts[49], "p95_ms": cuts[94], "p99_ms": cuts[98]}
    return {name: round(1000 * value, 1) for name, value in named.items()} | {"requests": len(times)}


if __name__ == "__main__":
    start = time.perf_counter()
    times = asyncio.run(crowd(json.load(sys.stdin)))
    count = sum(map(len, times.values()))
    rate = round(count / (time.perf_counter() - start), 1)
    print(json.dumps({**{page: milliseconds(found) for page, found in times.items()}, "per_second": rate}))
