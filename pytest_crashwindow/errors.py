"""Everything that can go wrong, each with the user's next step in its docstring."""

from __future__ import annotations


class CrashWindowError(Exception):
    """The root of this package's errors."""


class BadOption(CrashWindowError):
    """An option, ini value, environment variable or marker argument can't be used.

    Next step: the message says where the value came from and what is allowed.
    """


class NotAttachable(CrashWindowError):
    """A call can't carry points: it doesn't exist, or Python doesn't let it be replaced.

    Next step: take a near name, or attach to the Python function that calls it.
    """


class UnattributedDeath(CrashWindowError):
    """A life ended without a result, and no fault of this plugin says it did that.

    Next step: look for the out-of-memory killer, a segfault, `os._exit` in the code under test.
    """


class UnseenError(UserWarning):
    """A life raised where no fault did that, and the test never asked what became of it.

    Next step: read the life's `value` or `outcome`, or say that it raises: `assert life.error`.
    """


class LifeNotOver(CrashWindowError):
    """Something was asked of a life that only a finished (or only a running) life can give.

    Next step: `wait()` for it, `resume()` it, or ask for `outcome` first.
    """


class Unpicklable(CrashWindowError):
    """A value or exception can't be sent from the life to the test by pickle.

    Next step: return plain data (numbers, strings, lists, dicts, module-level dataclasses).
    """


class OpenConnection(CrashWindowError):
    """A database connection was open when a life was to be forked.

    Next step: close it before `run`/`start`; SQLite connections don't survive a fork.
    """


class TooManyDeaths(CrashWindowError):
    """`supervise` restarted the target `max_lives` times and it died each time.

    Next step: the deaths are listed; a crash loop that doesn't heal is usually the bug itself.
    """


class WorldBroken(CrashWindowError):
    """The process that ran the test body ended without handing over its report.

    Next step: the message says how it ended; the plugin never takes that for a pass.
    """


class UnsupportedPlatform(CrashWindowError):
    """Lives need fork, SIGKILL and SIGSTOP, which this platform doesn't have.

    Next step: run these tests on Linux or macOS (in WSL or a container on Windows).
    """

    def __str__(self) -> str:
        return (
            "a life needs fork, SIGKILL and SIGSTOP, which Windows doesn't have. "
            "Run this test on Linux or macOS, or in WSL or a container."
        )
