# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the solver beside compiled plain FABRIK, numpy, and Blender's own IK and bake.

  python3 scripts/benchmark.py                 measures all groups and prints their tables
  python3 scripts/benchmark.py --group 1 3     only some of the groups, of which scripts/bench/__init__.py has the list
  python3 scripts/benchmark.py --write         also renews scripts/bench/README.md and the README's figures; what other
                                               groups say there stays
  python3 scripts/benchmark.py --quick         a few of each, to see that it works

Times are medians of interleaved rounds in one process; what counts are their ratios. Exits with 1 where an aim is
missed; goals that are not reached yet are named.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from bench import GROUPS
from build import ensure_built
from environment import exit_with, new_parser, run_in_blender


def parser() -> ArgumentParser:
    """The parser of the arguments."""
    made = new_parser(__doc__)
    made.add_argument("--quick", action="store_true")
    made.add_argument("--group", nargs="+", choices=list(GROUPS), default=list(GROUPS), metavar="N")
    made.add_argument("--write", action="store_true")
    return made


def main() -> int:
    arguments = parser().parse_args()
    if arguments.quick and arguments.write:
        parser().error("figures of a quick run are not to be written")
    ensure_built()
    return run_in_blender(["-m", "bench.run", *sys.argv[1:]], "benchmark")[0]


if __name__ == "__main__":
    exit_with(main)
