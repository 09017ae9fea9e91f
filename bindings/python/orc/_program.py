"""What a participant is called when nobody says, for both backends."""

from __future__ import annotations

import os
import sys


def program_name() -> str:
    """For people: the script, or the interpreter."""
    script = os.path.basename(sys.argv[0]) if sys.argv else ""
    return script if script not in ("", "-", "-c", "-m") else os.path.basename(sys.executable) or "python"
