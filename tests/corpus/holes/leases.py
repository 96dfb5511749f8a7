"""A job with a lease in a table, for the workers of the corpus."""

from tools import create, database, rows

LEASE = 30


def create_job(path):
    create(path, "CREATE TABLE job (owner, until, generation, result); INSERT INTO job VALUES (NULL, 0, 0, NULL)")


def take(path, clock, owner):
    """The lease's new generation, or None if the job is done or taken."""
    with database(path) as db:
        taken = db.execute(
            "UPDATE job SET owner = ?, until = ?, generation = generation + 1 WHERE until <= ? AND result IS NULL",
            [owner, clock() + LEASE, clock()],
        ).rowcount
        generation = db.execute("SELECT generation FROM job").fetchone()[0]
        db.commit()
    return generation if taken else None


def finish(path, result, where="1", *values):
    with database(path) as db:
        db.execute(f"UPDATE job SET result = ? WHERE {where}", [result, *values])
        db.commit()


def two_workers(crashwindow, disk, program, first_name="A", second_name="B"):
    """The first may stall; when its lease is over a second takes over; then the first wakes up."""
    path = disk / "jobs.db"
    create_job(path)
    first = crashwindow.run(program, path, crashwindow.clock, first_name, "of the first")
    crashwindow.clock.advance(LEASE + 1)
    second = crashwindow.run(program, path, crashwindow.clock, second_name, "of the second")
    took_over = second.value
    first.resume()
    assert rows(path, "SELECT result FROM job") == ["of the second" if took_over else "of the first"]
