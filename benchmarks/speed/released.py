"""The figures of the last release, printed beside today's.

    python -m benchmarks.speed warm --release "2 cores, EPYC without VNNI"

They stand in `released.json`, with the machine on which they were measured: on another one only
ratios may be compared. `--release` writes those of a run there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.report import Row

FILE = Path(__file__).with_name("released.json")


def parsed(parser: argparse.ArgumentParser) -> None:
    """Add the options of a benchmark whose figures may be released."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there, too")
    parser.add_argument("--release", metavar="MACHINE", help="keep them as those of the release")


def show(options: argparse.Namespace, benchmark: str, title: str, rows: Sequence[Row]) -> None:
    """Print the figures beside those of the release, and write them where the options say."""
    releases: dict[str, Any] = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    release = releases.get(benchmark, {"machine": "", "figures": {}})
    print(report.table(title, rows, release["figures"]))
    if release["machine"]:
        print(f"released: {release['machine']}")
    if options.json:
        options.json.write_text(json.dumps(report.as_json(benchmark, rows), indent=1), "utf-8")
    if options.release:
        figures = {row.name: float(f"{row.figure:.4g}") for row in rows}
        releases[benchmark] = {"machine": options.release, "figures": figures}
        FILE.write_text(json.dumps(releases, indent=1) + "\n", "utf-8")
