#!/usr/bin/env python3
"""usage: broken_blocks_test.py BUILD: run_blocks.py finds each kind of broken block, and passes those that work."""

import subprocess
import sys
import tempfile
from pathlib import Path

RUN_BLOCKS = Path(__file__).resolve().with_name("run_blocks.py")
PATIENCE = "3"  # seconds, after which a block without a sign of life is broken

# language to run, what stands in the page, and what the answer says; None: it works
CASES = [
    ("none", "```sh\ntrue\n```", None),
    ("none", "<!-- not run: needs two hosts -->\n```text\nhostA$\n```", None),
    ("none", "```text\nhostA$\n```", "a block of `text` does not run"),
    ("none", "```\nhostA$\n```", "a block of `` does not run"),
    ("none", "<!-- not run: -->\n```sh\ntrue\n```", "needs a reason"),
    ("none", "<!-- not run: far away -->\n\n```text\nhostA$\n```", "does not run"),
    ("none", "<!-- inside: nowhere -->\n```cpp\nreturn 0;\n```", "there is no frame"),
    ("none", "```sh\ntrue\n```\n```sh\nfalse", "does not run"),
    ("none", "no block at all", "0 passed"),
    ("cpp", "```cpp\nint main() { return 0; }\n```", None),
    ("cpp", "```cpp\nint main() { return nothing; }\n```", "does not compile"),
    ("cpp", "```cpp\nint main() { return 3; }\n```", "status 3"),
    ("cpp", "<!-- inside: participant -->\n```cpp\nif (!b.register_topic(\"no name\")) return 1;\n```", "status 1"),
    ("cpp", '```cpp\n#include "orc.h"\nint main() {\n  orc::participant b;\n  if (!b.register_topic("a")) return 1;\n'
            "  for (;;) (void)b.recv_msg(\"b\", -1);\n}\n```", "no sign of life"),
    ("sh", "```sh\norc topic echo robot --once\norc topic hz robot\n```", None),
    ("sh", "```sh\nexport GREETING=hello\ntest $GREETING = hello  # a comment\n```", None),
    ("sh", "```sh\ntrue\norc topic lst\n```", "status 2"),
    ("sh", "```sh\norc topic pub robot on\norc topic echo robot\n```", "no sign of life"),
    ("sh", "```sh\nsleep 1000\n```", "no sign of life"),
]  # fmt: skip


def main(build: str) -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        page = Path(directory) / "page"
        for language, text, expected in CASES:
            page.write_text(text + "\n", encoding="utf-8")
            words = [sys.executable, str(RUN_BLOCKS), "--patience", PATIENCE, language, build, str(page)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            said = done.stdout + done.stderr
            if "[orc: skipped]" in said:
                print(said)
                return 0
            if (done.returncode == 0) != (expected is None) or (expected or "1 passed, 0 failed") not in said:
                wrong += 1
                print(f"{text}\n--- expected {expected or 'no finding'}; status {done.returncode}:\n{said}")
    print(f"{len(CASES) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
