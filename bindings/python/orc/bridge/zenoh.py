"""The bridge between ORC and Zenoh, as a program: `python3 -m orc.bridge.zenoh --help`, or `orc bridge zenoh`.

Guide: liborc/doc/guide/zenoh.md. Exit codes: 0 after Ctrl-C or SIGTERM, 1 when it cannot go on, 2 for usage.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import os
import sys
from typing import List, Optional

from orc.bridge._shared.rules import DIRECTIONS
from orc.bridge._shared.running import CannotRun, RunnableBridge, log_to_stderr, run
from orc.bridge._zenoh.log import logger
from orc.bridge._zenoh.settings import FORMATS, MODES, Settings, TopicRule, read_file

MISSING = "this needs eclipse-zenoh: pip install 'orc-middleware[zenoh]', or pip install eclipse-zenoh"

_EPILOG = """\
patterns: * stands for any characters but /, ** for any characters. A topic of this network has the key
PREFIX/ROBOT/TOPIC; a topic of another robot has the name ROBOT/TOPIC here.

examples:
  orc bridge zenoh --robot robot7 --topic 'arm/**' --connect tcp/router.example:7447
  orc bridge zenoh --file bridge.toml --zenoh-config tls.json5
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="orc bridge zenoh",
        description="Carries topics and services between this network of ORC and Zenoh, until Ctrl-C.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--topic", action="append", default=[], metavar="PATTERN", help="topics that may cross; repeatable")
    add("--direction", choices=DIRECTIONS, default="both", help="of all --topic (default: both)")
    add("--prefix", help="first part of all keys (default: orc)")
    add("--robot", help="name of this robot in keys (default: the name of the host)")
    add("--file", metavar="TOML", help="further settings, rates and priorities per topic, services")
    add("--zenoh-config", metavar="JSON5", help="Zenoh's own configuration: TLS, access control and the rest")
    add(
        "--connect",
        action="append",
        default=[],
        metavar="ENDPOINT",
        help="of a router: tcp/HOST:7447; repeatable",
    )
    add("--listen", action="append", default=[], metavar="ENDPOINT", help="where others may connect; repeatable")
    add("--mode", choices=MODES, help="of Zenoh (default: client with --connect, router with --listen)")
    add("--format", choices=FORMATS, help="of keys and attachments (default: orc)")
    add("--domain", type=int, metavar="N", help="rmw_zenoh: ROS_DOMAIN_ID (default: 0)")
    add("--broker", help="endpoint of the address broker (default: as for all programs)")
    add("--verbose", action="store_true", help="log what crosses, at the end how much")
    return parser


def settings_of(arguments: List[str]) -> Settings:
    """Returns the settings of a command line. Raises SettingsError, OSError, ImportError; SystemExit for usage."""
    read = _parser().parse_args(arguments)
    settings = Settings(topics=[TopicRule(name=each, direction=read.direction) for each in read.topic])
    if read.file:
        read_file(read.file, settings)
    for name in ("prefix", "robot", "zenoh_config", "mode", "format", "domain", "broker"):
        given = getattr(read, name)
        if given is not None:
            setattr(settings, name, given)
    settings.connect = read.connect or settings.connect
    settings.listen = read.listen or settings.listen
    settings.check()
    log_to_stderr("orc bridge zenoh", read.verbose)
    return settings


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the bridge, and returns the exit code."""

    def make() -> RunnableBridge:
        settings = settings_of(sys.argv[1:] if arguments is None else arguments)
        if importlib.util.find_spec("zenoh") is None:
            raise CannotRun(MISSING)
        from orc.bridge._zenoh.program import Bridge

        return Bridge(settings)

    return run("orc bridge zenoh", make, logger)


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    sys.stdout.flush()
    os._exit(code)  # Zenoh's threads may still wait with a large sample
