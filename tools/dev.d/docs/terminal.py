"""usage: terminal.py BIN PICTURE: draws a terminal session with the tools of ORC as an SVG picture.

The session is real: a broker, the robot and controller of the demo, and a camera run while the commands do. README.md
shows the picture that is kept as liborc/doc/terminal.svg; make it again when the output of a command changes:

    tools/dev build && python3 tools/dev.d/docs/terminal.py build/release/bin liborc/doc/terminal.svg
"""

import os
import pty
import subprocess
import sys
import tempfile
import time
from html import escape

BACKGROUND = [
    "orc-broker --log-level error",
    "orc_demo_robot",
    "orc_demo_controller",
    "ORC_TRANSPORTS=shm,ipc orc topic pub camera -r 20 $(printf %100000d)",
    "orc topic echo camera",
    "orc topic echo robot_position",
]
COMMANDS = [
    "orc topic list -v",
    "orc topic hz robot_position -n 3",
    "orc topic echo robot_position --hex -n 3",
]
WIDTH, HEIGHT, MARGIN = 7.8, 19, 16  # of a character, of a line, around all lines; in pixels


def shown(command, environment):
    """What a command writes to a terminal."""
    ours, its = pty.openpty()
    with subprocess.Popen(["bash", "-c", command], stdin=its, stdout=its, stderr=its, env=environment):
        os.close(its)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:  # the command ended
            pass
    os.close(ours)
    return text.decode().replace("\r\n", "\n").rstrip("\n").split("\n")


def session(programs):
    """Lines of the session; those that are typed begin with a prompt."""
    with tempfile.TemporaryDirectory() as directory:
        environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", XDG_RUNTIME_DIR=directory)
        running = []
        try:
            for each in BACKGROUND:
                words = ["bash", "-c", each]
                running.append(
                    subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
                )
                time.sleep(1)  # the broker first
            time.sleep(2)  # counters reach the broker once a second
            for each in COMMANDS:
                yield f"$ {each}"
                yield from shown(each, environment)
        finally:
            for each in reversed(running):
                os.killpg(each.pid, 15)
                each.wait()


def drawn(lines):
    width = round(max(map(len, lines)) * WIDTH + 2 * MARGIN)
    height = len(lines) * HEIGHT + 2 * MARGIN
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    yield ' role="img" font-family="Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="13" fill="#d6dde6">'
    yield "<title>A terminal with the output of orc topic list, hz and echo</title>"
    yield f'<rect width="{width}" height="{height}" rx="8" fill="#1b2430"/>'
    for at, line in enumerate(lines):
        bold = ' font-weight="bold" fill="#8fd0ff"' if line.startswith("$ ") else ""
        y = MARGIN + at * HEIGHT + 14
        # every font gets the same width, so columns stay columns
        length = f'textLength="{len(line) * WIDTH:.1f}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"'
        yield f'<text x="{MARGIN}" y="{y}" {length}{bold}>{escape(line)}</text>'
    yield "</svg>"


def main(programs, picture):
    lines = list(session(os.path.abspath(programs)))
    with open(picture, "w", encoding="utf-8") as file:
        file.write("\n".join(drawn(lines)) + "\n")


main(*sys.argv[1:])
