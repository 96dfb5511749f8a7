"""`smtp`: a mail is about to be handed to a server, and the server has accepted it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import Probe

if TYPE_CHECKING:
    from ..installing import Site


class Smtp(Probe):
    """`smtplib`, and what is built on it. One pair for each mail, however many its recipients."""

    name = "smtp"
    calls = ("smtp.send",)

    def install(self, site: Site) -> None:
        tracker = site.tracker

        def sendmail(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            __tracebackhide__ = True
            sender, recipients = args[1], args[2]
            envelope = sender, recipients if isinstance(recipients, str) else ", ".join(recipients)
            tracker.passed("smtp.send:enter", envelope)
            result = original(*args, **kwargs)
            tracker.passed("smtp.send:exit", envelope)
            return result

        site.when_imported("smtplib", lambda module: site.attach(module.SMTP.sendmail, sendmail))
