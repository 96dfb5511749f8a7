"""What the plugin needs of the standard library, as it was before any test ran.

Tests and the code under test replace such functions (`monkeypatch.setattr(os, "replace", fails)`,
`mock.patch("builtins.open")`, freezegun), and so do the probes. What the plugin does in their processes
it does with these, and so it is no hit either.

This module runs inside lives: standard library only.
"""

from __future__ import annotations

import functools
import io
import json
import os
import pickle
import random
import select
import signal
import time
from typing import NoReturn

open_file = io.open
open_fd, close, read, write, pread, lseek, dup2 = os.open, os.close, os.read, os.write, os.pread, os.lseek, os.dup2
pipe, fstat, stat, listdir, readlink = os.pipe, os.fstat, os.stat, os.listdir, os.readlink
mkdir, rename, replace, realpath = os.mkdir, os.rename, os.replace, os.path.realpath

fork, waitpid, getpid, getpgid, getpgrp = os.fork, os.waitpid, os.getpid, os.getpgid, os.getpgrp
kill, killpg, poll, set_signal = os.kill, os.killpg, select.poll, signal.signal
exit_now = os._exit

sleep, seed, give_way = time.sleep, random.seed, getattr(os, "sched_yield", None)
# Not `time.monotonic`, which freezegun replaces wherever it finds it.
monotonic_ns = functools.partial(time.clock_gettime_ns, time.CLOCK_MONOTONIC)
monotonic = functools.partial(time.clock_gettime, time.CLOCK_MONOTONIC)

to_json, from_json = json.dumps, json.loads
to_pickle, from_pickle = pickle.dumps, pickle.loads


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The content of a file. Raises FileNotFoundError."""
    with open_file(path, "rb") as file:
        content: bytes = file.read()
    return content


def write_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Make this the content of a file."""
    with open_file(path, "wb") as file:
        file.write(content)


def leave(status: int) -> NoReturn:
    """End this process at once; coverage's `[run] patch = _exit` saves its data before."""
    try:
        if getattr(os._exit, "__module__", "").partition(".")[0] == "coverage":
            os._exit(status)
    finally:
        exit_now(status)
