"""Twenty people at once, in a process of their own: each asks for the next page as soon as the last one has come, over one kept connection.

Bytes alone: a client that understood the answers would take as long as the server, from the same cores.
"""

import asyncio
import json
import re
import sys
import time
from statistics import quantiles
from typing import Any
from urllib.parse import urlsplit

LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


async def person(address: str, key: str, paths: list[str], rounds: int) -> dict[str, list[float]]:
    """Seconds of each answer, by path, of one person."""
    seconds: dict[str, list[float]] = {path: [] for path in paths}
    where = urlsplit(address)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    for path in paths * rounds:
        start = time.perf_counter()
        asked = (
            f"GET {path} HTTP/1.1\r\nHost: {where.netloc}\r\nCookie: apportion={key}\r\nAccept-Encoding: gzip\r\n\r\n"
        )
        writer.write(asked.encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = LENGTH.search(head)
        if not head.startswith(b"HTTP/1.1 200 ") or not length:
            raise SystemExit(f"{path}: {head.decode()}")
        await reader.readexactly(int(length[1]))
        seconds[path].append(time.perf_counter() - start)
    writer.close()
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
