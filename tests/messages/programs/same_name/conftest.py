import pytest_crashwindow


class Crash(pytest_crashwindow.Fault):
    name = "crash"


def pytest_crashwindow_faults(config):
    return [Crash()]
