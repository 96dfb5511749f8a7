from pytest_crashwindow.windows import parse


def pytest_crashwindow_windows(item, windows):
    """Of each point its first hit, and a window that no life reaches."""
    windows[:] = [w for w in windows if w.steps[0].hit == 1] + [parse("work.passed+7:crash")]
