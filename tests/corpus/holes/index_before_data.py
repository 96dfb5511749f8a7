"""The index is written before what it points to."""

MARKER = {}
FAILS = {
    "file.write:exit+1:crash",
    "open:enter+2:crash",
    "open:exit+2:crash",
    "file.write:enter+2:crash",
}


def append(path, text):
    with open(path, "a") as file:
        file.write(text)


def broken(disk):
    append(disk / "index", "0\n")
    append(disk / "data", "first\n")


def correct(disk):
    append(disk / "data", "first\n")
    append(disk / "index", "0\n")


def scenario(crashwindow, disk, program):
    for file in ("index", "data"):
        (disk / file).touch()
    crashwindow.run(program, disk)
    for number in (disk / "index").read_text().split():
        assert (disk / "data").read_text().splitlines()[int(number)] == "first"
