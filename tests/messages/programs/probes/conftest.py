import pytest_crashwindow


def two():
    pass


class Attaching(pytest_crashwindow.Probe):
    name, calls = "attaching", ("shop.send",)

    def install(self, site):
        site.attach(len, lambda original, args, kwargs: None)


class Replacing(pytest_crashwindow.Probe):
    name, calls = "replacing", ("shop.send",)

    def install(self, site):
        site.replace(len, two)
        site.replace(len, print)


class Failing(pytest_crashwindow.Probe):
    name, calls = "failing", ("shop.send",)

    def install(self, site):
        raise KeyError("no such queue")


class Late(pytest_crashwindow.Probe):
    name, calls = "late", ("shop.send",)

    def install(self, site):
        site.when_imported("wave", lambda module: {}["no such queue"])


def pytest_crashwindow_probes(config):
    return [Attaching(), Replacing(), Failing(), Late()]
