"""`make bench` runs every part and prints a table and JSON; `python -m bench PART` runs one."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from bench.measure import in_own_process
from bench.parts import PARTS, TARGETS


def look_up(found: dict[str, Any], path: tuple[str, ...]) -> float:
    value: Any = found
    for key in path:
        value = value[key]
    return float(value)


def table(results: dict[str, dict[str, Any]]) -> str:
    lines = [f"{'part':<12} {'figure':<28} {'found':>9}  target"]
    for part, path, bound, how in TARGETS:
        if part in results and "skipped" in results[part]:
            lines.append(f"{part:<12} {results[part]['skipped']}")
        elif part in results:
            value = look_up(results[part], path)
            kept = value <= bound if how == "at most" else value >= bound
            lines.append(f"{part:<12} {' '.join(path):<28} {value:>9}  {how} {bound:g} {'ok' if kept else 'MISSED'}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("part", nargs="*", choices=[[], *PARTS], help="only these parts")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "out")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if len(asked.part) == 1:
        print(json.dumps(PARTS[asked.part[0]](asked.folder)))
        return
    results = {}
    for part in asked.part or PARTS:
        print(f"{part}: {PARTS[part].__doc__}", file=sys.stderr)
        results[part] = in_own_process(part, asked.folder)
    print(table(results))
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
