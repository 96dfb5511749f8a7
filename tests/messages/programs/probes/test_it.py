"""Probes of plugins that don't do what they may."""

# $ pytest -o crashwindow_probes=attaching
# $ pytest -o crashwindow_probes=replacing
# $ pytest -o crashwindow_probes=failing
# $ pytest -o crashwindow_probes=late


def open_sound():
    import wave  # noqa: F401


def test_nothing(crashwindow):
    crashwindow.run(open_sound)
