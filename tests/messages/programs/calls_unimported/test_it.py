"""Calls of modules that nobody has imported when they are named."""

# $ pytest

import pytest

attach = pytest.mark.crashwindow_calls


def place():
    import changing  # noqa: F401


@attach("mailing:Mailer.sned")
def test_slip(crashwindow):
    pass


def test_slip_of_attach(crashwindow):
    crashwindow.attach("mailing:Mailer.sned")


def test_attach_of_a_function(crashwindow):
    crashwindow.attach(pytest.raises)


@attach("changing:send")
def test_module_that_is_another_one_in_the_life(crashwindow, tmp_path, monkeypatch):
    monkeypatch.setenv("WITHOUT_SEND", "1")
    crashwindow.run(place)
