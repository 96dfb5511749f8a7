"""Probes of plugins that don't do what they may."""

# $ pytest -o crashwindow_probes=attaching
# $ pytest -o crashwindow_probes=replacing
# $ pytest -o crashwindow_probes=failing


def test_nothing(crashwindow):
    pass
