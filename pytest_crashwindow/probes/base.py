"""What a probe is: built-in points for code that names none.

Each probe is one file beside this one, listed in `probes/__init__.py`. It runs inside lives: standard
library only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from ..installing import Site


class Probe:
    """A source of points. Subclass it and return an instance from `pytest_crashwindow_probes`."""

    name: ClassVar[str]
    """as in `crashwindow_probes`"""
    calls: ClassVar[tuple[str, ...]]
    """its points without their ends; each has `:enter` and `:exit`"""
    only_by_name: ClassVar[tuple[str, ...]] = ()
    """calls that are points only where their name is spelled out"""

    def install(self, site: Site) -> None:
        """Put the points in place. Called once, in a process that is not pytest's, before lives are forked.

        Nothing may be a hit until a life begins: `site.tracker.passed` sees to that.
        """
        raise NotImplementedError
