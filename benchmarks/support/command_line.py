"""What the command lines of the benchmarks in Python have in common."""

from __future__ import annotations

import argparse

TRANSPORTS = ("ipc", "tcp", "shm")
UNITS = {"k": 1000, "M": 1_000_000}


def size_of(text: str) -> int:
    """Reads a size such as 10, 100k or 1M."""
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


def sizes_of(text: str) -> list[int]:
    return [size_of(each) for each in text.split(",")]


def transports_of(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names).difference(TRANSPORTS):
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: it is one of {', '.join(TRANSPORTS)}")
    return names


def size_label(size: int) -> str:
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1000} kB" if size >= 1000 else f"{size} B"


def parser_of(program: str, description: str | None, sizes: str, repetitions: int) -> argparse.ArgumentParser:
    """Returns a parser of the common options, with these defaults."""
    parser = argparse.ArgumentParser(
        prog=program, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--transport", type=transports_of, default=",".join(TRANSPORTS), metavar="NAME,…", help="default: %(default)s"
    )
    parser.add_argument(
        "--size",
        type=sizes_of,
        default=sizes,
        metavar="SIZE,…",
        help="bytes; k and M are 1000 and 1000000; default: %(default)s",
    )
    parser.add_argument(
        "--repetitions", type=int, default=repetitions, help="of each, alternating; default: %(default)s"
    )
    parser.add_argument("--seconds", type=float, default=0.5, help="per repetition; default: %(default)s")
    parser.add_argument(
        "--cpu", default="", metavar="A,B|none", help="cores of the two ends; default: the first two allowed ones"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE")
    return parser
