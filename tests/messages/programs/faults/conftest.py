import pytest_crashwindow


class Flood(pytest_crashwindow.Fault):
    name = "flood"

    def act(self, fired, life):
        return None


def pytest_crashwindow_faults(config):
    return [Flood()]
