"""`python -m benchmarks [--quick]`: everything, side by side."""

from __future__ import annotations

import os
import sys

from . import lives, points, starting, sweeping


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once
    starting.importing(3 if quick else 15)
    points.production(3 if quick else 7)
    points.in_a_life(3 if quick else 9)
    lives.a_life(5 if quick else 40)
    sweeping.compare(windows=15 if quick else 100, fresh=3 if quick else 12)


if __name__ == "__main__":
    main()
