"""Options that can't be used: pytest doesn't start."""

# $ pytest --crashwindow-depth=0
# $ pytest --crashwindow-life-timeout=soon
# $ pytest --crashwindow-death=kil
# $ pytest --crashwindow-death=drown
# $ pytest -o crashwindow_depth=0
# $ pytest -o crashwindow_depth=deep
# $ pytest -o crashwindow_dept=2
# $ pytest -o crashwindow_off=perhaps
# $ echo 'crashwindow_off = perhaps' >> pytest.ini; pytest; echo '[pytest]' > pytest.ini
# $ CRASHWINDOW_SEED=-1 pytest
# $ CRASHWINDOW_DETPH=2 pytest
# $ CRASHWINDOW_ENGINE=branch pytest
# $ pytest --crashwindow-report=report.txt
# $ mkdir folder.html; pytest --crashwindow-report=folder.html
# $ pytest --crashwindow-report=options_misused.py/report.html
# $ pytest --crashwindow-window=shop.paid options_misused.py
# $ pytest --crashwindow-window=shop.paid+1:crush options_misused.py
# $ pytest --crashwindow-window=shop.paid+1:crash --crashwindow-off options_misused.py
# $ pytest --crashwindow-off -rs 'options_misused.py::test_swept[shop.paid+1:crash]'
# $ pytest -o crashwindow_calls=json.loads options_misused.py
# $ pytest -o crashwindow_probes=sqlite options_misused.py
# $ pytest -o crashwindow_probes=redis options_misused.py

import pytest


def test_nothing(crashwindow):
    pass


@pytest.mark.crash_windows
def test_swept(crashwindow):
    pass
