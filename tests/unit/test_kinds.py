"""Which kind of window a timeline shows: each kind both ways, and silence where nothing is clear."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_crashwindow.report import kinds
from pytest_crashwindow.report.kinds import Control, Disk, Kind, kind_of
from pytest_crashwindow.report.timeline import Entry

COMMIT = "point A sqlite3.commit:exit+1"
COMMIT_2 = "point A-2 sqlite3.commit:exit+2"
MAIL = "effect - mail o-1"
OTHER_MAIL = "effect - mail o-2"
START = "started A -"
DIED = "ended A crashed"
AGAIN = "started A-2 -"
ENDED = "ended A-2 returned"
ENDED_A = "ended A returned"


def timeline(*lines: str) -> list[Entry]:
    """`KIND LIFE NAME [DETAIL]`; a `-` is nothing."""
    told = []
    for at, text in enumerate(lines):
        kind, life, name, *detail = text.split(" ", 3)
        rest = " ".join(detail)
        if kind == "fault":
            name, rest = f"{name} {rest}", ""
        told.append(Entry(at, kind, "" if life == "-" else life, "" if name == "-" else name, rest))
    return told


def crash(point: str, *before: str) -> list[str]:
    return [START, *before, f"fault A crash at {point}", DIED]


def control(*lines: str, **sizes: int) -> Control:
    disk = Disk(before=lambda path: None, now=lambda path: sizes.get(path[1:]))
    return Control.of(timeline(START, *lines, ENDED_A), disk)


def disk(before: int | None = None, now: int | None = None) -> Disk:
    """Of the only file that matters."""
    return Disk(before=lambda path: before, now=lambda path: now)


# -- a file that is written in place ---------------------------------------------------------------

OPEN = ["point A open:enter+1 ('/f')", "point A open:exit+1 ('/f')"]
WRITE = ["point A file.write:enter+1 ('/f')", "point A file.write:exit+1 ('/f')"]
REWRITE = ["point A-2 open:exit+2 ('/f')", "point A-2 file.write:exit+2 ('/f')"]
IN_PLACE = control(*OPEN, *WRITE, f=9)
MOVED = control(*OPEN, *WRITE, "point A os.replace:exit+1 ('/f', '/g')")


@pytest.mark.parametrize("point", ["open:exit+1", "file.write:enter+1"])
def test_a_file_that_has_lost_its_content_and_was_not_restored(point: str) -> None:
    told = [*crash(point, *OPEN, WRITE[0]), AGAIN, ENDED]
    assert kind_of(timeline(*told), IN_PLACE, disk(before=7, now=0)) == kinds.HALF_WRITTEN
    assert kind_of(timeline(*told), None, disk(before=7, now=0)) == kinds.HALF_WRITTEN


def test_a_file_that_is_moved_into_place_may_be_cut() -> None:
    told = timeline(*crash("open:exit+1", *OPEN), AGAIN, ENDED)
    assert kind_of(told, MOVED, disk(now=0)) is None
    assert kind_of(told, MOVED, disk(before=7, now=0)) is None


def test_the_name_of_a_moved_file_may_be_too_long_to_be_kept() -> None:
    long = "/" + "x" * 300
    shown = f"'{long}'"[:197] + "..."
    moved = control(f"point A open:exit+1 ({shown})", f"point A os.replace:exit+1 ({shown})")
    told = timeline(*crash("open:exit+1", f"point A open:exit+1 ('{long}')"), AGAIN, ENDED)
    assert kind_of(told, moved, disk(before=7, now=0)) is None


def test_a_file_that_recovery_wrote_again_is_not_to_blame() -> None:
    told = timeline(*crash("open:exit+1", *OPEN), AGAIN, *REWRITE, ENDED)
    assert kind_of(told, IN_PLACE, disk(before=7, now=9)) is None


def test_a_death_before_the_file_is_opened_leaves_it_whole() -> None:
    told = timeline(*crash("open:enter+1", OPEN[0]), AGAIN, ENDED)
    assert kind_of(told, IN_PLACE, disk(before=7, now=7)) is None


def test_a_death_after_the_last_write_leaves_it_whole() -> None:
    told = timeline(*crash("file.write:exit+1", *OPEN, *WRITE), AGAIN, ENDED)
    assert kind_of(told, IN_PLACE, disk(before=7, now=9)) is None


def test_a_new_file_that_recovery_found_empty_and_left_so() -> None:
    told = timeline(*crash("open:exit+1", *OPEN), AGAIN, "ended A-2 raised")
    assert kind_of(told, IN_PLACE, disk(now=0)) == kinds.HALF_WRITTEN


def test_an_empty_new_file_beside_a_commit_may_have_nothing_to_do_with_it() -> None:
    told = timeline(*crash("open:exit+1", COMMIT, *OPEN), AGAIN, ENDED)
    assert kind_of(told, control(COMMIT, *OPEN, *WRITE, f=9), disk(now=0)) is None


def test_an_empty_new_file_beside_a_mark_may_have_nothing_to_do_with_it() -> None:
    claim = "point A os.mkdir:exit+1 ('/claim')"
    told = timeline(*crash("open:exit+1", claim, *OPEN), AGAIN, ENDED)
    assert kind_of(told, control(claim, *OPEN, *WRITE, f=9), disk(now=0)) is None
    assert kind_of(told, control(claim, *OPEN, *WRITE, f=9), disk(before=7, now=0)) == kinds.HALF_WRITTEN


def test_a_file_in_pieces_of_which_some_are_missing() -> None:
    more = ["point A file.write:enter+2 ('/f')", "point A file.write:exit+2 ('/f')"]
    told = timeline(*crash("file.write:exit+1", *OPEN, *WRITE), AGAIN, ENDED)
    assert kind_of(told, control(*OPEN, *WRITE, *more, f=20), disk(now=9)) == kinds.HALF_WRITTEN
    with_work_between = control(*OPEN, *WRITE, "point A shop.logged+1 -", *more, f=20)
    assert kind_of(told, with_work_between, disk(now=9)) is None


def test_a_log_that_is_appended_to_keeps_its_content() -> None:
    told = timeline(*crash("open:exit+1", *OPEN), AGAIN, ENDED)
    assert kind_of(told, control(*OPEN, *WRITE, f=14), disk(before=7, now=7)) is None


def test_without_a_restart_a_new_file_may_be_one_that_is_written_anew() -> None:
    told = timeline(*crash("open:exit+1", *OPEN))
    assert kind_of(told, IN_PLACE, disk(before=7, now=0)) == kinds.HALF_WRITTEN
    assert kind_of(told, IN_PLACE, disk(now=0)) == kinds.NO_RESTART_OF_WRITER
    assert kind_of(told, MOVED, disk(now=0)) == kinds.NO_RESTART


# -- no restart ------------------------------------------------------------------------------------


def test_nothing_ran_after_the_death() -> None:
    told = crash("shop.paid+1", COMMIT)
    assert kind_of(timeline(*told), control(COMMIT, MAIL)) == kinds.NO_RESTART
    assert kind_of(timeline(*told), control(COMMIT, "point A sqlite3.commit:exit+2")) == kinds.NO_RESTART
    assert kind_of(timeline(*told), None) == kinds.NO_RESTART
    assert kind_of(timeline(*told, AGAIN, ENDED), None) is None


def test_another_life_was_there_to_take_over() -> None:
    assert kind_of(timeline("started B -", *crash("shop.paid+1", COMMIT), "point B shop.taken+1")) is None


def test_only_a_child_of_the_life_died() -> None:
    assert kind_of(timeline(START, "fault A crash at shop.paid+1", "ended A raised")) is None


# -- effects and commits ---------------------------------------------------------------------------

POST = "point A http.request:exit+1 ('POST', 'http://mail/')"
GET = "point A http.request:exit+1 ('GET', 'http://mail/')"
POST_2 = "point A-2 http.request:exit+2 ('POST', 'http://mail/')"
GET_2 = "point A-2 http.request:exit+2 ('GET', 'http://mail/')"
CHILD = "point A subprocess.Popen:exit+1 (['date'])"
CHILD_2 = "point A-2 subprocess.Popen:exit+2 (['date'])"


@pytest.mark.parametrize(
    ("before", "after", "without_fault", "expected"),
    [
        ([MAIL], [MAIL], control(MAIL, COMMIT), kinds.EFFECT_UNRECORDED),
        ([MAIL], [MAIL], None, kinds.EFFECT_UNRECORDED),
        ([COMMIT, MAIL], [MAIL], control(COMMIT, MAIL), kinds.EFFECT_UNRECORDED),
        ([POST], [POST_2], control(POST, COMMIT), kinds.EFFECT_UNRECORDED),
        ([MAIL], [], control(MAIL, COMMIT), None),
        ([MAIL], [MAIL], control(MAIL, MAIL, COMMIT), None),  # as often as it should be
        ([POST], [POST_2], None, None),  # perhaps the next message to the same address
        (["effect - tick"], ["effect - tick"], None, None),  # an effect without a key may recur
        ([GET], [GET_2], control(GET, COMMIT), None),  # asking twice harms nobody
        ([CHILD], [CHILD_2], control(CHILD, COMMIT), None),
        ([MAIL], [MAIL], control(MAIL, COMMIT, "effect - invoice o-1"), None),  # which of the two is it?
        ([MAIL, COMMIT], [MAIL], control(MAIL, COMMIT), kinds.DONE_AGAIN),
        ([MAIL, COMMIT], [], control(MAIL, COMMIT), None),
        ([MAIL, COMMIT], [MAIL], control(MAIL, COMMIT, COMMIT), None),  # the record may be the second one
        ([POST, COMMIT], [POST_2], control(POST, COMMIT), None),
    ],
)
def test_an_effect_that_is_done_again(
    before: list[str], after: list[str], without_fault: Control | None, expected: Kind | None
) -> None:
    told = timeline(*crash("shop.done+1", *before), AGAIN, *after, ENDED)
    assert kind_of(told, without_fault) == expected


WROTE = "point A file.write:exit+1 ('/mark')"
TOOK = "point A os.remove:exit+1 ('/queue/1')"


@pytest.mark.parametrize(
    ("before", "after", "without_fault", "expected"),
    [
        ([COMMIT], [], control(COMMIT, MAIL), kinds.EFFECT_MISSING),
        ([COMMIT], [], control(COMMIT, POST), kinds.EFFECT_MISSING),
        ([COMMIT], [MAIL], control(COMMIT, MAIL), None),
        ([COMMIT], [OTHER_MAIL], control(COMMIT, MAIL), None),  # keys may be made anew in each world
        ([COMMIT], [], control(COMMIT, GET), None),
        ([COMMIT], [], None, None),
        ([WROTE], [], control(WROTE, MAIL), kinds.MARKED_BEFORE),
        ([WROTE], [], control(WROTE, MAIL, "point A os.replace:exit+1 ('/mark', '/x')"), None),
        ([WROTE, POST], [], control(WROTE, POST, MAIL), None),  # the one who was asked may remember
        ([WROTE], [MAIL], control(WROTE, MAIL), None),
        (["point A os.fsync:exit+1 ('/mark')"], [], control(MAIL), None),
        ([COMMIT], [], control(COMMIT, COMMIT), kinds.TWO_TRANSACTIONS),
        ([COMMIT], [COMMIT_2], control(COMMIT, COMMIT), None),
        ([COMMIT], [], control(COMMIT, CHILD, COMMIT), None),
        ([], [], control(COMMIT, COMMIT), None),
    ],
)
def test_something_is_missing_after_the_restart(
    before: list[str], after: list[str], without_fault: Control | None, expected: Kind | None
) -> None:
    told = crash("shop.done+1", *before)
    assert kind_of(timeline(*told, AGAIN, *after, ENDED), without_fault) == expected


def test_what_another_program_or_a_failed_restart_leaves_undone_proves_nothing() -> None:
    whole = control(COMMIT, MAIL)
    assert kind_of(timeline(*crash("shop.paid+1", COMMIT), AGAIN, ENDED), whole) == kinds.EFFECT_MISSING
    assert kind_of(timeline(*crash("shop.paid+1", COMMIT), "started B -", "ended B returned"), whole) is None
    assert kind_of(timeline(*crash("shop.paid+1", COMMIT), AGAIN, "ended A-2 raised"), whole) is None


def test_a_take_from_a_queue_is_a_mark_unless_the_file_is_a_temporary_one() -> None:
    told = timeline(*crash("shop.taken+1", TOOK), AGAIN, ENDED)
    assert kind_of(told, control(TOOK, MAIL)) is None  # a removed file may as well be one that was of no use any more
    made = "point A os.mkdir:exit+1 ('/claim')"
    assert kind_of(timeline(*crash("shop.taken+1", made), AGAIN, ENDED), control(made, MAIL)) == kinds.MARKED_BEFORE


# -- the other faults ------------------------------------------------------------------------------

SEND = "shop.mail:send"


@pytest.mark.parametrize(
    ("lines", "without_fault", "expected"),
    [
        ([MAIL, f"fault A lost_ack at {SEND}:exit+1", MAIL], None, kinds.LOST_ANSWER),
        ([MAIL, f"fault A lost_ack at {SEND}:exit+1", MAIL], control(MAIL), kinds.LOST_ANSWER),
        ([MAIL, f"fault A lost_ack at {SEND}:exit+1", MAIL], control(MAIL, MAIL), None),
        ([MAIL, f"fault A lost_ack at {SEND}:exit+1"], None, None),
        ([POST, "fault A lost_ack at http.request:exit+1", POST], control(POST), kinds.LOST_ANSWER),
        ([GET, "fault A lost_ack at http.request:exit+1", GET], control(GET), None),
        ([POST, "fault A lost_ack at http.request:exit+1", POST], control(POST, POST), None),
        ([MAIL, f"point A {SEND}:enter+1", f"fault A lost_ack at {SEND}:exit+1", MAIL], None, None),
        ([f"fault A duplicate at {SEND}:enter+1", MAIL, MAIL], None, kinds.DELIVERED_TWICE),
        ([f"fault A duplicate at {SEND}:enter+1", MAIL, MAIL], control(MAIL), kinds.DELIVERED_TWICE),
        ([f"fault A duplicate at {SEND}:enter+1", MAIL, MAIL], control(MAIL, MAIL), None),
        ([f"fault A duplicate at {SEND}:enter+1", "effect - tick", "effect - tick"], None, None),
        ([f"fault A duplicate at {SEND}:enter+1", MAIL], None, None),
        (["fault A delay at a+1", MAIL, MAIL], None, None),
        ([MAIL, MAIL], None, None),
    ],
)
def test_a_lost_answer_and_a_duplicate(lines: list[str], without_fault: Control | None, expected: Kind | None) -> None:
    assert kind_of(timeline(*lines), without_fault) == expected


PAUSE = "fault A pause at shop.done+1"
B_WROTE = "point B sqlite3.commit:exit+1 ('/db')"
A_WROTE = "point A sqlite3.commit:exit+2 ('/db')"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([PAUSE, B_WROTE, "resumed A -", A_WROTE], kinds.STALE_WORKER),
        ([PAUSE, MAIL, "resumed A -", OTHER_MAIL, ENDED_A], kinds.STALE_WORKER),
        ([PAUSE, "resumed A -", A_WROTE], None),
        ([PAUSE, B_WROTE, "resumed A -"], None),
        ([PAUSE, B_WROTE], None),
        ([PAUSE, B_WROTE, "resumed A -", "point B sqlite3.commit:exit+2 ('/db')"], None),
        ([PAUSE, B_WROTE, "resumed A -", "point A file.write:exit+1 ('/a.log')"], None),
        ([PAUSE, MAIL, "resumed A -", ENDED_A, OTHER_MAIL], None),
    ],
)
def test_a_paused_life_that_wakes(lines: list[str], expected: Kind | None) -> None:
    assert kind_of(timeline(*lines)) == expected


def test_a_recovery_that_is_cut_short() -> None:
    told = [*crash("a+1"), AGAIN, "fault A-2 crash at a+2", "ended A-2 crashed"]
    third = "started A-3 -"
    assert kind_of(timeline(*told, third), passes_without_last=True) == kinds.IN_RECOVERY
    assert kind_of(timeline(*told, third)) is None  # the first fault alone may have done it
    assert kind_of(timeline(*told), passes_without_last=True) is None  # nothing tried to go on
    paused = timeline("fault A pause at a+1", "fault B pause at a+2", "started C -")
    assert kind_of(paused, passes_without_last=True) is None
    same_life = timeline("fault A delay at a+1", "fault A crash at b+1", AGAIN)
    assert kind_of(same_life, passes_without_last=True) is None


# -- pages -----------------------------------------------------------------------------------------


def test_every_kind_has_its_page() -> None:
    root = Path(__file__).parent.parent.parent
    files = {kind.file for kind in vars(kinds).values() if isinstance(kind, Kind)}
    assert files
    assert [file for file in files if not (root / file).is_file()] == []
