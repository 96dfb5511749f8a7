"""Ordinary misuse and ordinary bad luck: one clear line, nothing half done, and it goes on when the cause is gone."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow
from sample_app import cli, db, events, heartbeats, jobs, outbox, receiver, reports, settings, status, worker
from sample_app.demo import PAYLOAD, Hands
from sample_app.errors import (
    Busy,
    CannotOpen,
    ClockWentBack,
    Conflict,
    DiskFull,
    NotDurable,
    ReadOnly,
    Refused,
    WrongSchema,
)

from .office import KEY, Facts, Office, Service, facts, people

NOBODY = 65534


def full_disk() -> sqlite3.OperationalError:
    """What SQLite raises where no space is left."""
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


# Opening ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["status"], ["work"], ["dispatch"], ["cancel", "1"], ["migrate"], ["check"]])
def test_a_missing_database_says_so_and_is_not_created(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert cli.main([command[0], str(tmp_path / "nowhere"), *command[1:]]) == 1
    assert "no database at" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()


@pytest.fixture
def not_writable(fast_home: Path) -> Iterator[Path]:
    """A home that may be read and not written, by whoever isn't root."""
    jobs.register(fast_home, KEY, PAYLOAD, 0)
    for path in fast_home.iterdir():
        path.chmod(0o444)
    fast_home.chmod(0o555)
    yield fast_home
    fast_home.chmod(0o755)


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write anything; this process is somebody else for a moment."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(was)


def test_a_read_only_directory_is_one_clear_error(crashwindow: CrashWindow, not_writable: Path) -> None:
    def submit() -> None:
        with as_nobody():
            jobs.register(not_writable, "another", PAYLOAD, 0)

    life = crashwindow.run(submit)
    assert isinstance(life.error, ReadOnly | CannotOpen)
    assert str(not_writable) in str(life.error)
    assert len(jobs.everything(not_writable)) == 1


def test_init_in_a_read_only_directory_is_one_clear_error(crashwindow: CrashWindow, not_writable: Path) -> None:
    def init() -> int:
        with as_nobody():
            return cli.main(["init", str(not_writable / "new")])

    life = crashwindow.run(init)
    assert life.value == 1
    assert life.stderr.count("\n") == 1


def test_a_place_where_wal_is_impossible_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a network file system without shared memory: a way of locking with which SQLite has no WAL."""

    def without_shared_memory(path: Path, create: bool) -> sqlite3.Connection:
        uri = f"{path.absolute().as_uri()}?mode=rwc&vfs=unix-dotfile"
        return sqlite3.connect(uri, uri=True, isolation_level=None)

    monkeypatch.setattr(db, "_open", without_shared_memory)
    with pytest.raises(NotDurable, match="journal mode is 'delete', not 'wal'"):
        db.init(home / "share")


def test_a_newer_schema_is_refused_and_left_alone(home: Path) -> None:
    with db.app(home) as conn:
        conn.execute("PRAGMA user_version = 3")
    before = db.path_of(home, "app").read_bytes()
    with pytest.raises(WrongSchema, match="newer than this code"):
        jobs.register(home, KEY, PAYLOAD, 0)
    assert db.path_of(home, "app").read_bytes() == before


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"customer": 1}', '{"customer": "", "period": "p"}', "null", '"x"']
)
def test_a_malformed_payload_is_refused_and_nothing_is_registered(
    home: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    assert cli.main(["submit", str(home), text]) == 1
    assert capsys.readouterr().err.startswith("sample_app: malformed payload")
    assert jobs.everything(home) == []


@pytest.mark.parametrize("amount", [None, "5", 1.5, True])
def test_an_amount_that_is_none_is_refused(home: Path, capsys: pytest.CaptureFixture[str], amount: object) -> None:
    assert cli.main(["submit", str(home), json.dumps({**PAYLOAD, "amount": amount})]) == 1
    assert "'amount' must be a whole number" in capsys.readouterr().err


# Locks --------------------------------------------------------------------------------------------


@pytest.mark.pause_at("sample_app.job.before_registered")
def test_a_paused_writer_keeps_others_out_who_say_so_after_their_limit(
    crashwindow: CrashWindow, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMPLE_APP_BUSY_SECONDS", "0.05")
    first = crashwindow.run(jobs.register, home, KEY, PAYLOAD, 0)
    assert first.paused
    second = crashwindow.run(jobs.register, home, "another", PAYLOAD, 0)
    assert isinstance(second.error, Busy)
    assert "locked by another writer" in str(second.error)
    assert jobs.everything(home) == []  # readers are not kept out
    assert first.resume().value.new
    assert crashwindow.run(jobs.register, home, "another", PAYLOAD, 0).value.new


@pytest.mark.pause_at("sample_app.job.before_registered")
def test_a_second_writer_that_waits_gets_its_turn(crashwindow: CrashWindow, home: Path) -> None:
    first = crashwindow.run(jobs.register, home, KEY, PAYLOAD, 0)
    second = crashwindow.start(jobs.register, home, "another", PAYLOAD, 0)
    assert first.resume().value.new
    assert second.wait().value.new
    assert len(jobs.everything(home)) == 2


# A full disk --------------------------------------------------------------------------------------


@pytest.mark.error_at("sqlite3.commit:enter", full_disk())
def test_a_full_disk_at_commit_keeps_nothing_of_the_transaction(crashwindow: CrashWindow, home: Path) -> None:
    life = crashwindow.run(jobs.register, home, KEY, PAYLOAD, 0)
    assert isinstance(life.error, DiskFull)
    assert jobs.everything(home) == []
    assert crashwindow.run(jobs.register, home, KEY, PAYLOAD, 0).value.new


@pytest.mark.crash_windows(error={"sqlite3.commit:enter": full_disk()})
def test_sweep_of_a_full_disk_at_every_commit(crashwindow: CrashWindow, fast_home: Path) -> None:
    people(fast_home)
    service = Service(crashwindow, fast_home).start()
    office = Office(fast_home, crashwindow.clock, service.client)
    crashwindow.run(office.life, "A")
    crashwindow.clock.advance(jobs.LEASE)
    office.life("B")
    office.settle_by_hand()
    office.life("C")
    office.check()


@pytest.mark.error_at("file.write:enter", OSError(errno.ENOSPC, "No space left on device"))
def test_a_full_disk_leaves_the_old_settings(crashwindow: CrashWindow, home: Path) -> None:
    settings.save(home, settings.Settings(lease=5))
    life = crashwindow.run(cli.main, ["configure", str(home), "--lease", "6"])
    assert (life.value, life.stderr) == (1, "sample_app: disk full\n")
    assert settings.load(home).lease == 5


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of half a megabyte."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if mounted.returncode != 0:
        pytest.skip(f"a small tmpfs can't be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full_and_then_has_space_again(small_disk: Path) -> None:
    home = small_disk / "home"
    ballast = small_disk / "ballast"
    db.init(home)
    ballast.write_bytes(b"x" * 100_000)
    accepted = 0
    with pytest.raises(DiskFull, match="disk full") as caught:  # noqa: PT012
        while True:
            jobs.register(home, f"job-{accepted}", {**PAYLOAD, "customer": "c" * 2000}, 0)
            accepted += 1
    assert "\n" not in str(caught.value)
    ballast.unlink()
    assert len(jobs.everything(home)) == accepted, "what was accepted is there, and nothing else"
    assert jobs.register(home, "after", PAYLOAD, 0).new
    assert events.differences(home) == []


# Clocks -------------------------------------------------------------------------------------------


def test_a_clock_that_goes_backwards_is_refused_by_claim_and_heartbeat(crashwindow: CrashWindow, home: Path) -> None:
    clock = crashwindow.clock
    clock.advance(1000)
    jobs.register(home, KEY, PAYLOAD, clock())
    jobs.claim(home, "A", clock())
    before = dict(jobs.get(home, 1))
    clock.advance(-100)
    assert isinstance(crashwindow.run(jobs.claim, home, "B", clock()).error, ClockWentBack)
    assert isinstance(crashwindow.run(jobs.heartbeat, home, 1, 1, clock()).error, ClockWentBack)
    assert dict(jobs.get(home, 1)) == before
    clock.advance(100)
    assert crashwindow.run(jobs.heartbeat, home, 1, 1, clock()).value is True


# Long computations --------------------------------------------------------------------------------


def until_extended(home: Path, clock: Callable[[], float]) -> None:
    """Compute until somebody has extended the lease beyond that of the claim."""
    looked = threading.Event()
    while jobs.get(home, 1)["lease_until"] <= jobs.LEASE:
        looked.wait(0.001)


def test_a_worker_keeps_its_lease_while_it_computes(crashwindow: CrashWindow, home: Path) -> None:
    def model(request: dict[str, object]) -> str:
        crashwindow.clock.advance(20)
        until_extended(home, crashwindow.clock)
        crashwindow.clock.advance(20)  # 40 in all, and the lease is 30
        assert jobs.claim(home, "B", crashwindow.clock()) is None
        return "took long"

    jobs.register(home, KEY, PAYLOAD, 0)
    tools = worker.Tools(model=model, beat_every=0.005)
    life = crashwindow.run(worker.work_once, home, "A", crashwindow.clock, tools)
    assert life.value.generation == 1
    report = reports.latest(home, 1)
    assert report
    assert report["body"] == "took long"


@pytest.mark.pause_at("sample_app.job.computed")
def test_a_stopped_worker_does_not_keep_its_lease(crashwindow: CrashWindow, home: Path) -> None:
    jobs.register(home, KEY, PAYLOAD, 0)
    tools = worker.Tools(beat_every=3600)
    a = crashwindow.run(worker.work_once, home, "A", crashwindow.clock, tools)
    assert a.paused
    crashwindow.clock.advance(jobs.LEASE)
    assert crashwindow.run(worker.work_once, home, "B", crashwindow.clock).value.generation == 2
    a.resume()
    assert facts(home) == Facts(1, 1, 1, 0)


def test_a_heartbeat_that_is_refused_is_the_last(home: Path) -> None:
    jobs.register(home, KEY, PAYLOAD, 0)
    claim = jobs.claim(home, "A", 0)
    assert claim
    assert jobs.claim(home, "B", jobs.LEASE)
    until = jobs.get(home, 1)["lease_until"]
    with heartbeats.kept(home, claim, lambda: jobs.LEASE + 1, every=0.2):
        [thread] = [one for one in threading.enumerate() if one.name == "heartbeat of job 1"]
        thread.join(10)
        assert not thread.is_alive()
    assert jobs.get(home, 1)["lease_until"] == until


# Poison -------------------------------------------------------------------------------------------


@pytest.fixture
def poisoned(home: Path) -> Path:
    """Two reports; the receiver knows the first one's event id with another content."""
    for key in ("a", "b"):
        jobs.register(home, key, PAYLOAD, 0)
        worker.work_once(home, "A", Hands())
    receiver.receive(home, "report.ready:a", {"owner": "o", "text": "something else"}, 0)
    return home


def test_a_poison_event_is_set_aside_and_the_others_go_out(poisoned: Path) -> None:
    assert outbox.dispatch_once(poisoned, Hands()) == 1
    assert outbox.pending(poisoned) == []
    [refused] = outbox.refused(poisoned)
    assert (refused["event_id"], refused["offers"]) == ("report.ready:a", 1)
    assert "came before with another content" in refused["refusal"]
    assert [event for event, _ in receiver.notifications(poisoned)] == ["report.ready:a", "report.ready:b"]
    assert status.status(poisoned, 0).refused == ["report.ready:a"]
    assert outbox.dispatch_once(poisoned, Hands()) == 0


def test_a_poison_event_can_be_offered_again_by_an_operator(poisoned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outbox.dispatch_once(poisoned, Hands())
    with db.receiver(poisoned) as conn:
        conn.execute("DELETE FROM inbox WHERE event_id = 'report.ready:a'")
    assert cli.main(["offer-again", str(poisoned), "report.ready:a"]) == 0
    assert outbox.dispatch_once(poisoned, Hands()) == 1
    with pytest.raises(Refused):
        outbox.offer_again(poisoned, "report.ready:a")


@pytest.mark.crash_windows(crash="sample_app.outbox.*", depth=2)
def test_sweep_of_deaths_around_a_poison_event(crashwindow: CrashWindow, poisoned: Path) -> None:
    crashwindow.supervise(outbox.dispatch_once, poisoned, crashwindow.clock)
    assert [row["event_id"] for row in outbox.refused(poisoned)] == ["report.ready:a"]
    assert outbox.pending(poisoned) == []
    assert len(receiver.notifications(poisoned)) == 2


def test_the_receiver_refuses_a_known_id_with_another_content(poisoned: Path) -> None:
    with pytest.raises(Conflict):
        receiver.receive(poisoned, "report.ready:a", {"owner": "o", "text": "again something else"}, 0)
