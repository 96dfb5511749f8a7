"""Controls that fail by an assertion: what the test body may not see, said only where it may be that."""

import sys
from unittest.mock import Mock

import pytest

sweep = pytest.mark.crash_windows("shop.*")


def place(send_mail):
    sys.audit("shop.placed")
    send_mail("o-1")


class Mailer:
    def __init__(self):
        self.sent = []

    def send(self, order):
        self.sent.append(order)


@pytest.fixture
def mailer():
    return Mailer()


@pytest.fixture
def order():
    return "o-1"


@sweep
def test_looks_at_a_fixture(crashwindow, mailer):
    crashwindow.run(place, mailer.send)
    assert mailer.sent == ["o-1"]


@sweep
def test_asks_a_mock(crashwindow):
    mail = Mock()
    crashwindow.run(place, mail)
    mail.assert_called_once()


@sweep
def test_has_nothing_that_remembers(crashwindow, tmp_path, order):
    crashwindow.run(place, print)
    assert order == "o-2"


@sweep
def test_fails_elsewhere(crashwindow, mailer):
    assert crashwindow.run(place, None).value == mailer.sent
