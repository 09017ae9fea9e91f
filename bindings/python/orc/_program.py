"""The default name of a participant, for both backends."""

from __future__ import annotations

import os
import sys


def program_name() -> str:
    """Returns the name of the script, or of the interpreter, for people."""
    script = os.path.basename(sys.argv[0]) if sys.argv else ""
    return script if script not in ("", "-", "-c", "-m") else os.path.basename(sys.executable) or "python"
