from __future__ import annotations

import sys
from pathlib import Path

# `--import-mode=importlib` leaves the helper modules beside the tests (probing, ...) unfound.
sys.path.insert(0, str(Path(__file__).parent))
