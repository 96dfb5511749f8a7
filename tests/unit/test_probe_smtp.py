from __future__ import annotations

import smtplib
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
import servers
from probing import Ended, Lives, crash_at, error_at, lost_ack_at

from pytest_crashwindow.probes.smtp import Smtp

PAIR = ["smtp.send:enter", "smtp.send:exit"]
Run = Callable[..., Ended]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[servers.Server]:
    with servers.serving(tmp_path / "served", servers.smtp) as server:
        yield server


@pytest.fixture
def run(tmp_path: Path) -> Run:
    lives = Lives(tmp_path, Smtp)
    return lambda body, *armed, **how: lives.run(lambda tracker: body(), *armed, **how)


def sending(server: servers.Server, *texts: str) -> Callable[[], list[Any]]:
    """Sends mails over one connection, and tells what became of each."""

    def body() -> list[Any]:
        outcomes: list[Any] = []
        with smtplib.SMTP("127.0.0.1", server.port) as smtp:
            for text in texts:
                try:
                    outcomes.append(smtp.sendmail("shop@example.org", ["a@example.org", "b@example.org"], text))
                except Exception as error:
                    outcomes.append(type(error).__name__)
        return outcomes

    return body


def test_one_pair_for_each_mail(run: Run, server: servers.Server) -> None:
    ended = run(sending(server, "one", "two"))
    assert ended.value == [{}, {}], ended.report
    assert ended.points == PAIR * 2
    assert {hit.arguments for hit in ended.hits} == {"'shop@example.org', 'a@example.org, b@example.org'"}
    assert server.served == ["2 one", "2 two"]


def test_send_message(run: Run, server: servers.Server) -> None:
    message = EmailMessage()
    message["From"], message["To"] = "shop@example.org", "a@example.org"
    message.set_content("hello")

    def body() -> None:
        with smtplib.SMTP("127.0.0.1", server.port) as smtp:
            smtp.send_message(message)

    ended = run(body)
    assert ended.told == [(point, "'shop@example.org', 'a@example.org'") for point in PAIR]


def test_arguments_by_name(run: Run, server: servers.Server) -> None:
    def body() -> None:
        with smtplib.SMTP("127.0.0.1", server.port) as smtp:
            smtp.sendmail(msg="hello", to_addrs="a@example.org", from_addr="shop@example.org")

    assert run(body).hits[0].arguments == "'shop@example.org', 'a@example.org'"


def test_error_sends_nothing_and_the_connection_goes_on(run: Run, server: servers.Server) -> None:
    ended = run(sending(server, "one", "two", "three"), error_at(PAIR[0], nth=2))
    assert ended.value == [{}, "Boom", {}], ended.report
    assert server.served == ["2 one", "2 three"]
    assert ended.unraisable == []


def test_lost_ack_comes_after_the_server_took_it(run: Run, server: servers.Server) -> None:
    ended = run(sending(server, "one", "two"), lost_ack_at(PAIR[1]))
    assert ended.value == ["Boom", {}], ended.report
    assert server.served == ["2 one", "2 two"]
    assert ended.unraisable == []


def test_crash(run: Run, server: servers.Server) -> None:
    assert run(sending(server, "one"), crash_at(PAIR[0])).killed
    assert run(sending(server, "two"), crash_at(PAIR[1])).killed
    assert server.served == ["2 two"]


def test_a_mail_without_any_accepted_recipient_has_no_exit(run: Run, server: servers.Server) -> None:
    def body() -> None:
        with smtplib.SMTP("127.0.0.1", server.port) as smtp, pytest.raises(smtplib.SMTPRecipientsRefused):
            smtp.sendmail("shop@example.org", [], "hello")

    assert run(body).points == PAIR[:1]
