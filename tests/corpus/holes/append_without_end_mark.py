"""A log whose reader takes half a line for an entry."""

MARKER = {}
FAILS = {"file.write:exit+1:crash", "file.write:enter+2:crash"}


def append(log, entry):
    with open(log, "a") as file:
        file.write(entry)
        file.flush()
        file.write("=1\n")


def broken(log, entry):
    append(log, entry)


def correct(log, entry):
    whole = log.read_text().rpartition("\n")
    if whole[2]:  # a death left half a line behind
        log.write_text(whole[0] + whole[1])
    append(log, entry)


def scenario(crashwindow, disk, program):
    log = disk / "log"
    log.write_text("a=1\n")
    crashwindow.supervise(program, log, "b")
    assert set(log.read_text().splitlines()) == {"a=1", "b=1"}
