"""`same_as_control`: what the control had is kept by pickle, and compared with pytest's own diff."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import pytest

from . import originals
from .errors import Unpicklable, WorldBroken


class Comparison:
    """The values of one sweep's control, in a directory that its worlds share."""

    def __init__(self, directory: Path, config: pytest.Config, is_control: bool) -> None:
        self._directory, self._config, self._is_control = directory, config, is_control
        self.missed = directory.with_suffix(".missed")
        """exists once a window asked for a value that no control has left"""

    def __call__(self, name: str, value: object) -> None:
        """Remember in the control; elsewhere raise AssertionError with pytest's diff unless equal."""
        __tracebackhide__ = True
        path = self._directory / hashlib.sha256(name.encode()).hexdigest()[:16]
        try:
            control = originals.read_file(path)
        except FileNotFoundError:
            if not self._is_control:
                originals.write_file(self.missed, b"")
                raise WorldBroken(
                    f"same_as_control({name!r}): the control had no such value; compare in the control as well"
                ) from None
            self._remember(path, name, value)
        else:
            self._assert_equal(name, value, originals.from_pickle(control))

    def _remember(self, path: Path, name: str, value: object) -> None:
        __tracebackhide__ = True
        try:
            data = originals.to_pickle(value)
        except Exception as error:
            raise Unpicklable(
                f"same_as_control({name!r}): a {type(value).__qualname__} can't be kept ({error}); give plain data"
            ) from None
        with contextlib.suppress(FileExistsError):
            originals.mkdir(self._directory)
        originals.write_file(path, data)

    def _assert_equal(self, name: str, value: object, control: object) -> None:
        __tracebackhide__ = True
        if value == control:
            return
        hook = self._config.hook.pytest_assertrepr_compare
        explained = [lines for lines in hook(config=self._config, op="==", left=value, right=control) if lines]
        lines = explained[0] if explained else [f"{value!r} == {control!r}"]
        title = f"{name} differs from the control (left: this window, right: control)"
        raise AssertionError(f"{title}\nassert " + "\n  ".join(lines))
