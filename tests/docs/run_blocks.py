#!/usr/bin/env python3
"""Runs the code blocks of Markdown files, so that what the documentation shows works.

usage: run_blocks.py [--python PROGRAM] [--patience SECONDS] LANGUAGE BUILD FILE…

LANGUAGE is cpp, python, sh, or `none`: that one runs nothing and checks that each block of every language either runs
or says why not. A comment right before a block changes how it runs:

    <!-- not run: REASON -->     The block does not run.
    <!-- inside: FRAME -->       The block replaces the line `// block` or `# block` of frames/FRAME.cpp or .py.

A C++ block compiles against the headers and liborc of BUILD. Each line of a shell block is one command. Blocks run in
an empty directory, in a network of their own, with a broker, unless the block starts one. What they read
(request_topic, orc topic echo, …) and do not publish themselves, this program publishes: 2.0 as a double, at 1 kHz. A
block has worked when each program in it ended with status 0, or showed life: the topics that it registers deliver a
sample; a program without such topics writes something.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Iterator, NamedTuple

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
LANGUAGES = ("cpp", "python", "sh")
# these do not end by themselves
ENDLESS = re.compile(r"orc-broker\b|orc topic hz\b|orc topic echo\b(?!.* (--once|-n|--timeout))|orc topic pub\b.* -r")
REPORTS_FINDINGS = re.compile(r"orc doctor\b")  # its status is 1 where the machine has a finding
PUBLISHES = re.compile(r'register_(?:topic|command)(?:<[^<>]*>)?\("([^"]+)"|orc topic pub (\w\S*)')
READS = re.compile(r'request_(?:topic|command)(?:<[^<>]*>)?\("([^"]+)"|orc topic (?:info|hz|echo) (\w\S*)')


class Broken(Exception):
    """A block does not work; the text says how."""


class Block(NamedTuple):
    path: Path
    line: int  # of the first line of code
    language: str
    code: str
    order: str  # "not run", "inside" or ""
    argument: str  # the reason, or the frame

    def __str__(self) -> str:
        return f"{os.path.relpath(self.path, SOURCE)}:{self.line}"


def blocks_of(path: Path) -> Iterator[Block]:
    lines = path.read_text(encoding="utf-8").splitlines()
    opened: int | None = None
    for at, line in enumerate(lines):
        if not line.lstrip().startswith(("```", "~~~")):
            continue
        if opened is None:
            opened = at
            continue
        fence = lines[opened]
        before = lines[opened - 1] if opened else ""
        note = re.fullmatch(r"<!-- (not run|inside): *(.*?) *-->", before)
        code = textwrap.dedent("\n".join(lines[opened + 1 : at])) + "\n"
        order, argument = note.groups() if note else ("", "")
        yield Block(path, opened + 2, fence.strip().strip("`~").strip(), code, order, argument)
        opened = None
    if opened is not None:
        yield Block(path, opened + 2, "", "", "", "")  # never closed: a block of no language, which is an error


def topics(pattern: re.Pattern[str], code: str) -> set[str]:
    return {name for match in pattern.findall(code) for name in match if name}


class Program:
    """A process group with its output in files."""

    def __init__(self, words: list[str], place: Path, environment: dict[str, str]) -> None:
        self.words = words
        self._files = [tempfile.NamedTemporaryFile(dir=place.parent) for _ in ("output", "errors")]
        self._process = subprocess.Popen(
            words,
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self._files[0],
            stderr=self._files[1],
            start_new_session=True,
        )

    def output(self) -> str:
        return Path(self._files[0].name).read_text(encoding="utf-8", errors="replace")

    def __str__(self) -> str:
        errors = Path(self._files[1].name).read_text(encoding="utf-8", errors="replace")
        return f"{' '.join(self.words)}\n{self.output()}{errors}"

    def status(self) -> int | None:
        return self._process.poll()

    def end(self) -> None:
        for sent in (signal.SIGINT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, sent)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(3)
                break
        for each in self._files:
            each.close()


class Stage:
    """Where one block runs: a directory, an environment, a broker, and publishers of what the block reads."""

    def __init__(self, build: Path, patience: float) -> None:
        self._all: list[Program] = []
        self._patience = patience
        self._root = Path(tempfile.mkdtemp(prefix="orc-docs."))
        self.directory = self._root / "work"
        self.directory.mkdir()
        run = self._root / "run"
        run.mkdir(mode=0o700)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("ORC_", "LCM_"))}
        self.environment.update(
            PATH=f"{build / 'bin'}:{os.environ['PATH']}",
            XDG_RUNTIME_DIR=str(run),
            PYTHONUNBUFFERED="1",
            HOME=str(self._root),
        )
        self._broker = run / "orc" / "broker"

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        for each in reversed(self._all):
            each.end()
        shutil.rmtree(self._root, ignore_errors=True)

    def start(self, *words: str) -> Program:
        program = Program(list(words), self.directory, self.environment)
        self._all.append(program)
        return program

    def _broker_answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self._broker)) == 0

    def serve(self, code: str, broker: Program | None = None) -> None:
        """A broker, unless the block started one, and publishers of what the block reads from others."""
        self._until(self._broker_answers, broker or self.start("orc-broker"))
        for topic in sorted(topics(READS, code) - topics(PUBLISHES, code)):
            self.start("orc", "topic", "pub", topic, "-r", "1000", "--hex", "0000000000000040")

    def _until(self, condition, program: Program) -> None:
        deadline = time.monotonic() + self._patience
        while not condition():
            if time.monotonic() > deadline:
                raise Broken(f"no sign of life in {self._patience:g} s: {program}")
            if program.status() not in (None, 0):
                raise Broken(f"status {program.status()}: {program}")
            time.sleep(0.02)

    def ends(self, program: Program, allowed: tuple[int, ...] = (0,)) -> None:
        self._until(lambda: program.status() in allowed, program)

    def lives(self, program: Program, published: set[str]) -> None:
        """Ended well, or its topics deliver, or it writes."""
        readers = [self.start("orc", "topic", "echo", topic, "--once") for topic in sorted(published)]

        def lives() -> bool:
            if program.status() == 0:
                return True
            return all(each.status() == 0 for each in readers) if readers else bool(program.output())

        self._until(lives, program)


def compiled(block: Block, code: str, build: Path, stage: Stage) -> str:
    source, program = stage.directory / "block.cpp", stage.directory / "block"
    source.write_text(code, encoding="utf-8")
    words = [os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
    words += [f"-I{SOURCE / 'liborc/include'}"]
    words += [str(source), "-o", str(program), f"-L{build / 'lib'}"]
    words += ["-lorc-middleware"]
    words += [f"-Wl,-rpath,{build / 'lib'}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Broken(f"does not compile\n{done.stderr}")
    return str(program)


def framed(block: Block) -> str:
    """The block as a whole program. Messages about it name the Markdown file, in C++ also the line."""
    code = f'#line {block.line} "{block.path}"\n{block.code}' if block.language == "cpp" else block.code
    if block.order != "inside":
        return code
    mark, suffix = {"cpp": ("//", "cpp"), "python": ("#", "py")}.get(block.language, ("", ""))
    frame = HERE / "frames" / f"{block.argument}.{suffix}"
    if not frame.is_file():
        raise Broken(f"there is no frame {frame.relative_to(SOURCE)}")
    whole, count = re.subn(
        rf"^( *){mark} block$", lambda found: textwrap.indent(code, found[1]), frame.read_text(), flags=re.MULTILINE
    )
    if count != 1:
        raise Broken(f"{frame.relative_to(SOURCE)} has {count} lines `{mark} block`, not one")
    return whole


def run_program(block: Block, build: Path, python: str, stage: Stage) -> None:
    code = framed(block)
    stage.serve(block.code if not block.order else "")  # a frame has both ends
    if block.language == "cpp":
        program = stage.start("stdbuf", "-oL", compiled(block, code, build, stage))  # its output is a file
    else:
        source = stage.directory / "block.py"
        source.write_text(code, encoding="utf-8")
        program = stage.start(python, str(source))
    if block.order:
        stage.ends(program)
    else:
        stage.lives(program, topics(PUBLISHES, block.code))


def run_shell(block: Block, stage: Stage) -> None:
    if not re.search(r"^orc-broker", block.code, re.MULTILINE):
        stage.serve(block.code)
    exports = ""
    unheard = []  # started with &: they show life when the lines that follow ran
    for line in block.code.replace("\\\n", " ").splitlines():
        command = re.sub(r"\s+#.*", "", line).strip()
        if not command:
            continue
        if command.startswith("export "):
            exports += command + "\n"
            command = "true"
        background = command.endswith("&")
        program = stage.start("bash", "-c", f"set -e\n{exports}{command.rstrip('& ')}")
        if command.startswith("orc-broker"):
            stage.serve(block.code, program)
        elif background:
            unheard.append(program)
        elif ENDLESS.match(command):
            stage.lives(program, topics(PUBLISHES, command))
        else:
            stage.ends(program, (0, 1) if REPORTS_FINDINGS.match(command) else (0,))
    for program in unheard:
        stage.lives(program, set())


def check(block: Block) -> None:
    """Whether the block says how it runs, or why not."""
    if block.order == "not run":
        if not block.argument:
            raise Broken("`not run` needs a reason")
    elif block.language not in LANGUAGES:
        raise Broken(
            f"a block of `{block.language}` does not run: make it one of {', '.join(LANGUAGES)}, or write "
            "<!-- not run: REASON --> in the line before it"
        )
    elif block.order == "inside":
        framed(block)


def has_package(python: str) -> bool:
    words = [python, "-c", "import numpy, orc; assert orc.backend == 'native'"]
    return shutil.which(python) is not None and subprocess.run(words, capture_output=True, check=False).returncode == 0


def skip(why: str) -> None:
    print(f"[orc: skipped] {why}")
    sys.exit(0)


def enter_own_network() -> None:
    """Starts this program again in a network where there is only lo, which carries multicast."""
    if os.environ.get("ORC_OWN_NETWORK") == "1":
        for words in ("ip link set lo up multicast on", "ip route add 224.0.0.0/4 dev lo"):
            subprocess.run(words.split(), check=True)
        return
    for options in (["--net"], ["--net", "--map-root-user"]):
        words = ["unshare", *options]
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            os.environ["ORC_OWN_NETWORK"] = "1"
            os.execvp("unshare", [*words, sys.executable, *sys.argv])
    skip("a network namespace needs root")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=str(SOURCE / "build/python-venv/bin/python"))
    parser.add_argument("--patience", type=float, default=60, help="seconds until a block must have shown life")
    parser.add_argument("language", choices=(*LANGUAGES, "none"))
    parser.add_argument("build", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    build = options.build.resolve()

    blocks = [block for path in options.files for block in blocks_of(path)]
    if options.language != "none":
        blocks = [each for each in blocks if each.language == options.language and each.order != "not run"]
        if options.language == "python" and not has_package(options.python):
            skip(f"{options.python} has no package orc (tools/dev test makes it, and needs PyPI)")
        enter_own_network()
    failed = 0
    for block in blocks:
        started = time.monotonic()
        try:
            if options.language == "none":
                check(block)
            else:
                with Stage(build, options.patience) as stage:
                    if block.language == "sh":
                        run_shell(block, stage)
                    else:
                        run_program(block, build, options.python, stage)
            if options.language != "none":
                print(f"{block}: works ({time.monotonic() - started:.1f} s)", flush=True)
        except Broken as error:
            failed += 1
            print(f"{block}: BROKEN: {error}", flush=True)
    print(f"{len(blocks) - failed} passed, {failed} failed")
    return 1 if failed or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
