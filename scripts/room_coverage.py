"""Print how much of each room the tests execute, and fail where a room has lost some.

    python scripts/room_coverage.py REPORT           REPORT: of `coverage json`, with branches
    python scripts/room_coverage.py REPORT --keep    write the figures as the new floors

A room is a folder of a package, or a file beside the folders. Coverage is the share of lines and
branches that ran, in percent. The floors stand in `room_coverage.json`; a room may fall below its
floor by `SLACK`, since a few branches depend on timing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

FLOORS = Path(__file__).with_name("room_coverage.json")
SLACK = 0.5  # percent


def room_of(path: str) -> str:
    """`proxy/memtree_proxy/chat/upstream_reply.py` -> `memtree_proxy/chat`."""
    parts = PurePosixPath(path).parts
    start = next(place for place, part in enumerate(parts) if part.startswith("memtree"))
    return "/".join(parts[start : start + 2])


def coverage_by_room(report: Mapping[str, Any]) -> dict[str, float]:
    """Percent by room, from the report's files."""
    ran, all_ = defaultdict[str, int](int), defaultdict[str, int](int)
    for path, file in report["files"].items():
        counts = file["summary"]
        ran[room_of(path)] += counts["covered_lines"] + counts["covered_branches"]
        all_[room_of(path)] += counts["num_statements"] + counts["num_branches"]
    return {room: round(100 * ran[room] / all_[room], 1) for room in sorted(all_) if all_[room]}


def rows(found: Mapping[str, float], floors: Mapping[str, float]) -> Iterator[tuple[str, bool]]:
    """A line a room, and whether the room is under its floor."""
    for room, percent in found.items():
        floor = floors.get(room)
        low = floor is not None and percent < floor - SLACK
        beside = "" if floor is None else f"   floor {floor:5.1f}"
        yield f"{room:40}{percent:6.1f}{beside}{'   LOWER' if low else ''}", low


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Print the coverage of the tests by room.")
    parser.add_argument("report", type=Path)
    parser.add_argument("--keep", action="store_true", help="write the figures as the new floors")
    options = parser.parse_args(arguments)
    found = coverage_by_room(json.loads(options.report.read_text("utf-8")))
    if options.keep:
        FLOORS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    listed = list(rows(found, json.loads(FLOORS.read_text("utf-8")) if FLOORS.exists() else {}))
    print(*(line for line, _ in listed), sep="\n")
    return 1 if any(low for _, low in listed) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
