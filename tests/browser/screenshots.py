"""Pictures of the report of the demo: `python tests/browser/screenshots.py FOLDER`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from driving import address, browser, sweep_of_demo

WINDOWS = {
    "twice": "test_shop.py::test_customer_gets_one_mail[shop.mail.sent+1:crash]",
    "stale": "test_shop.py::test_stale_worker_cannot_overwrite[shop.job.computed+1:pause]",
}
DEVICES = {
    "light": {"viewport": {"width": 1360, "height": 900}},
    "dark": {"viewport": {"width": 1360, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True},
}


def main(folder: Path) -> None:
    """Sweep, open, take pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, browser() as chromium:
        report = sweep_of_demo(Path(name)) / "report.html"
        for device, settings in DEVICES.items():
            page = chromium.new_context(**settings).new_page()
            page.goto(address(report))
            page.wait_for_selector(".matrix")
            page.screenshot(path=folder / f"{device}-overview.png")
            for title, window in WINDOWS.items():
                page.goto(address(report, window))
                page.wait_for_selector(".stepper")
                page.screenshot(path=folder / f"{device}-{title}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
