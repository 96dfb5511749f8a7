"""Every window begins as the test was right after set-up: memory, files, effects, clock."""

from __future__ import annotations

from .conftest import Run

STATE = """
import os, sys, pytest

SEEN = []  # memory of the test module

@pytest.fixture
def shelf():
    return ["from set-up"]

@pytest.fixture
def place(crashwindow, tmp_path_factory):
    directory = crashwindow.state(tmp_path_factory.mktemp("place"))
    (directory / "kept").write_text("as set up")
    os.chmod(directory / "kept", 0o640)
    (directory / "link").symlink_to("kept")
    crashwindow.clock.advance(100)
    crashwindow.effects.record("set", "up")
    return directory

def work(place, file, clock, effects):
    SEEN.append("a life")
    effects.record("work", "done")
    clock.advance(5)
    (place / "kept").unlink()
    (place / "link").unlink()
    (place / "new").mkdir()
    (place / "new" / "file").touch()
    file.write_text("changed")
    sys.audit("work.a")
    sys.audit("work.b")

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, tmp_path, tmp_path_factory, place, shelf):
    file = crashwindow.state(tmp_path_factory.getbasetemp() / "one-file")
    assert SEEN == [] and shelf == ["from set-up"]
    assert os.listdir(tmp_path) == [] and not file.exists()
    assert sorted(os.listdir(place)) == ["kept", "link"]
    assert (place / "link").read_text() == "as set up"
    assert (place / "kept").stat().st_mode & 0o777 == 0o640
    assert crashwindow.clock() == 100
    assert crashwindow.effects.keys("set") == ["up"] and not crashwindow.effects.count("work")

    SEEN.append("a body")
    shelf.append("of this window")
    (tmp_path / "x").touch()
    crashwindow.supervise(work, place, file, crashwindow.clock, crashwindow.effects)
    assert crashwindow.effects.count("work") >= 1
    assert SEEN == ["a body"]

def test_after(shelf):
    assert SEEN == [] and shelf == ["from set-up"]
"""


def test_nothing_of_one_window_reaches_another(run: Run) -> None:
    source = STATE.replace("supervise(work", "run(work")
    result = run(source, "-v")
    result.assert_outcomes(passed=4)


def test_what_is_not_declared_is_not_put_back(run: Run) -> None:
    """The other side of the promise: it would be a false sense of safety to test the first alone."""
    result = run(STATE.replace("crashwindow.state(tmp_path_factory.mktemp", "(tmp_path_factory.mktemp"))
    assert result.ret == 1


def test_random_numbers_are_the_same_in_every_window_and_differ_between_lives(run: Run) -> None:
    result = run(
        """
        import random, sys, pytest

        def draw():
            sys.audit("work.a")
            return random.random()

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow):
            lives = [crashwindow.supervise(draw) for _ in range(2)]
            crashwindow.same_as_control(random.random())
            crashwindow.same_as_control(lives[1].name in ("draw-2", "draw-3"))
            assert lives[0].value != lives[1].value
        """
    )
    result.assert_outcomes(passed=3)


def test_windows_are_alike_in_class_and_module_fixtures(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.fixture(scope="module")
        def shared():
            return []

        class TestWork:
            @pytest.mark.crash_windows("work.*")
            def test_work(self, crashwindow, shared):
                assert shared == [] and not hasattr(self, "mark")
                shared.append(1)
                self.mark = 1
                crashwindow.run(sys.audit, "work.a")

            def test_after(self, shared):
                assert shared == []
        """
    )
    result.assert_outcomes(passed=3)


SERVER = '''
"""A server that holds state in its memory: one for the module is shared by all windows; one for each world
is started by a function that the test body calls."""
import contextlib, socket, sys, pytest
from multiprocessing import get_context

def serve(listener):
    seen = 0
    while True:
        connection, _ = listener.accept()
        with connection:
            seen += len(connection.recv(1))
            connection.sendall(b"%d" % seen)

@contextlib.contextmanager
def server():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = get_context("fork").Process(target=serve, args=(listener,), daemon=True)
        process.start()
        try:
            yield listener.getsockname()
        finally:
            process.kill()
            process.join()

@pytest.fixture(scope="module")
def of_the_module():
    with server() as address:
        yield lambda: contextlib.nullcontext(address)

@pytest.fixture
def of_the_world():
    return server  # started by the body, so that every window has its own

def ask(address):
    sys.audit("work.a")
    with socket.create_connection(address) as connection:
        connection.sendall(b"x")
        return connection.recv(9)

@pytest.mark.crash_windows("work.*")
def test_of_the_module(crashwindow, of_the_module):
    with of_the_module() as address:
        assert crashwindow.supervise(ask, address).value == b"1"

@pytest.mark.crash_windows("work.*")
def test_of_the_world(crashwindow, of_the_world):
    with of_the_world() as address:
        assert crashwindow.supervise(ask, address).value == b"1"
'''


def test_a_server_for_each_world_is_started_by_the_body(run: Run) -> None:
    result = run(SERVER, "-v", "-k", "of_the_world")
    result.assert_outcomes(passed=2, deselected=1)


def test_a_server_of_the_module_is_shared_and_found_out_by_the_second_control(run: Run) -> None:
    result = run(SERVER, "-k", "of_the_module")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["unsteady control: the test passed in its first run *"])


def test_a_child_that_the_body_forks_and_lets_run_on_has_no_say(run: Run) -> None:
    source = """
        import os, sys, time, pytest

        @pytest.mark.crash_windows("work.a")
        def test_work(crashwindow):
            crashwindow.run(sys.audit, "work.a")
            if crashwindow.window:
                child = os.fork() == 0
                time.sleep(0 if child else 0.5)
                assert child
        """
    result = run(source)
    result.assert_outcomes(failed=2)
    assert "report.part" not in result.stdout.str() + result.stderr.str()


def test_what_a_world_leaves_open_is_in_nobodys_way(run: Run) -> None:
    source = """
        import atexit, socket, sys, pytest

        with socket.create_server(("127.0.0.1", 0)) as server:
            PORT = server.getsockname()[1]
        OPEN = []

        def work():
            for number in range(20):
                sys.audit("work.step")

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow):
            OPEN.append(socket.create_server(("127.0.0.1", PORT)))
            OPEN.append(bytearray(50_000_000))  # its end takes time
            crashwindow.supervise(work)
        """
    run(source).assert_outcomes(passed=21)


def test_what_a_world_leaves_running_is_gone_before_the_next(run: Run) -> None:
    source = """
        import multiprocessing, sys, threading, time, pytest

        def work():
            for number in range(20):
                sys.audit("work.step")

        def write(file):
            while True:
                file.touch()

        @pytest.mark.parametrize("kind", [threading.Thread, multiprocessing.get_context("fork").Process])
        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow, tmp_path, kind):
            assert not (tmp_path / "file").exists()
            kind(target=write, args=(tmp_path / "file",), daemon=True).start()
            crashwindow.supervise(work)
        """
    run(source, "-p", "no:warnings").assert_outcomes(passed=42)


def test_state_by_a_link_is_what_it_leads_to(run: Run) -> None:
    source = """
        import sys, pytest

        @pytest.fixture
        def current(crashwindow, tmp_path_factory):
            releases = tmp_path_factory.mktemp("releases")
            (releases / "1").mkdir()
            (releases / "current").symlink_to("1")
            return crashwindow.state(releases / "current")

        @pytest.mark.crash_windows("work.a")
        def test_work(crashwindow, current):
            assert current.is_symlink() and list(current.iterdir()) == []
            (current / "new").touch()
            crashwindow.run(sys.audit, "work.a")
        """
    run(source).assert_outcomes(passed=2)


def test_state_that_has_the_project_inside_is_refused(run: Run) -> None:
    """It would be put back after each window, and what somebody edits meanwhile would be lost."""
    source = """
        import os, sys, pytest

        @pytest.fixture
        def directory(crashwindow, request):
            return crashwindow.state(request.param)

        @pytest.mark.parametrize("directory", [".", "..", "test_it.py", "data"], indirect=True)
        @pytest.mark.crash_windows("work.a")
        def test_work(crashwindow, directory):
            crashwindow.run(sys.audit, "work.a")
        """
    result = run(source, "-v")
    result.assert_outcomes(passed=2, errors=3)
    result.stdout.fnmatch_lines(["*test_it.py lies inside, and a sweep would put it back as it was*"])


def test_state_that_has_the_plugins_own_files_inside_is_refused(run: Run) -> None:
    source = """
        import sys, pytest

        @pytest.mark.crash_windows("work.a")
        def test_work(crashwindow, tmp_path):
            crashwindow.state(tmp_path.parent)
        """
    result = run(source)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the temporary files of pytest and of this plugin lie inside; name the directory*"])
