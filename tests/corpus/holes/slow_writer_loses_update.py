"""Two writers: while a slow one sits between its reading and its writing, the other's update is lost."""

import sys
import time

MARKER = {"delay": {"stock.read": 1.0}}
FAILS = {"stock.read+1:delay"}


def broken(stock, gate):
    wait_for(gate)
    number = int(stock.read_text())
    sys.audit("stock.read")
    stock.write_text(str(number - 1))


def correct(stock, gate):
    wait_for(gate)
    sys.audit("stock.read")
    with open(stock, "ab", buffering=0) as file:
        file.write(b"-1")


def wait_for(gate):
    while not gate.exists():
        time.sleep(0.001)


def scenario(crashwindow, disk, program):
    stock, gates = disk / "stock", (disk / "gate 1", disk / "gate 2")
    stock.write_text("10")
    first, second = (crashwindow.start(program, stock, gate) for gate in gates)
    gates[0].touch()
    if crashwindow.window is None or crashwindow.window.steps[0].hit == 2:
        first.wait()  # it isn't slow: one after the other
    while not first.hits:
        time.sleep(0.001)
    gates[1].touch()
    second.wait()
    first.wait()
    assert eval(stock.read_text()) == 8
