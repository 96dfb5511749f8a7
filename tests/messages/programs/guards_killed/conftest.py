import os
import signal
from pathlib import Path


def pytest_crashwindow_window_result(item, window, report):
    """Between two windows: the guard is the only process below this one, if there is any."""
    for guard in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        os.kill(int(guard), signal.SIGKILL)
        os.waitid(os.P_PID, int(guard), os.WEXITED | os.WNOWAIT)
