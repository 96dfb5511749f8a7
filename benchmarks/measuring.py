"""Small helpers: repeat, take the middle, print a table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def per_call(action: Callable[[], object], repeat: int, number: int = 1) -> float:
    """Seconds for one call: the median of `repeat` rounds of `number` calls."""
    rounds = []
    for _ in range(repeat):
        began = time.perf_counter()
        for _ in range(number):
            action()
        rounds.append((time.perf_counter() - began) / number)
    return statistics.median(rounds)


def table(title: str, rows: list[tuple[str, float]], unit: str, against: int = 0) -> None:
    """Print rows with their value in `unit` (s, ms, us or ns) and the ratio to one of them."""
    factor = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
    base = rows[against][1]
    width = max(len(name) for name, _ in rows)
    print(f"\n{title}")
    for name, seconds in rows:
        print(f"  {name:{width}}  {seconds * factor:10.2f} {unit}   x {seconds / base:.2f}")
