"""Numbers of messages are counted in memory: after a restart a new message has the number of an old one."""

from tools import send_once

MARKER = {}
FAILS = {"os.remove:exit+1:crash"}


def broken(disk, effects):
    for number, order in enumerate(sorted(disk.glob("*.order"))):
        send_once(effects, f"{number}")
        order.unlink()


def correct(disk, effects):
    for order in sorted(disk.glob("*.order")):
        send_once(effects, order.name)
        order.unlink()


def scenario(crashwindow, disk, program):
    for name in ("a", "b"):
        (disk / f"{name}.order").touch()
    crashwindow.supervise(program, disk, crashwindow.effects)
    assert crashwindow.effects.count("mail") == 2
