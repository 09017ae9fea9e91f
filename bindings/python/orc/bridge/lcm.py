"""The LCM tunnel as a program: `python3 -m orc.bridge.lcm --help`, or `orc bridge lcm`.

Guide: liborc/doc/guide/lcm-tunnel.md. Exit codes: 0 after Ctrl-C or SIGTERM, 1 when it cannot go on, 2 for usage.
"""

from __future__ import annotations

import argparse
import sys
from typing import List, Optional

from orc.bridge._lcm.log import logger
from orc.bridge._lcm.program import Tunnel
from orc.bridge._lcm.settings import ChannelRule, Settings, TopicRule, read_file
from orc.bridge._lcm.urls import DEFAULT_LCM_URL
from orc.bridge._shared.rules import DIRECTIONS
from orc.bridge._shared.running import log_to_stderr, run

_EPILOG = """\
--channel and --accept take regular expressions for whole names. --topic takes patterns: * stands for any characters
but /, ** for any characters. A topic on multicast is a channel; --topic carries topics of the other transports, and
both ends name them.

examples:
  orc bridge lcm --listen 'tcp://*:6789' --key-file tunnel.key --channel 'POSE|CAMERA_.*'
  orc bridge lcm --connect tcp://robot.example:6789 --key-file tunnel.key --channel COMMAND
  orc bridge lcm --connect udp://robot.example:6789 --fec 0.5 --channel 'IMAGE.*' --rate 5 --topic 'arm/**'
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="orc bridge lcm",
        description="Carries LCM channels and ORC topics between two networks over tcp or UDP, until Ctrl-C.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )

    def add(name: str, **options: object) -> None:
        parser.add_argument(name, **options)  # type: ignore[arg-type]

    def add_list(name: str, metavar: str, help: str) -> None:
        add(name, action="append", default=[], metavar=metavar, help=help + "; repeatable")

    add_list("--listen", "URL", "where the other end may connect: tcp://*:6789 or udp://*:6789")
    add_list("--connect", "URL", "where the other end listens: tcp://HOST:6789 or udp://HOST:6789")
    add("--lcm-url", metavar="URL", help=f"the local network (default: {DEFAULT_LCM_URL})")
    add_list("--channel", "REGEX", "channels of the local network that go to the other end")
    add_list("--accept", "REGEX", "channels that may come from the other end (default: all)")
    add_list("--topic", "PATTERN", "ORC topics that may cross")
    add("--direction", choices=DIRECTIONS, default="both", help="of all --topic (default: both)")
    add("--rate", type=float, default=0.0, metavar="HZ", help="of each --channel and --topic: the newest alone")
    add("--fec", type=float, metavar="RATE", help="udp: parity for each byte sent, 0 to 1 (default: 0.25)")
    add("--max-delay", type=int, metavar="MS", help="udp: how long a lost packet may hold up others (default: 500)")
    add_list("--allow", "ADDRESS", "from which the other end may connect, such as 192.0.2.7 or 192.0.2.0/24")
    add("--key-file", metavar="FILE", help="the key that both ends share; packets without it do not count")
    add("--file", metavar="TOML", help="these and further settings, rates per channel")
    add("--broker", help="endpoint of the address broker, for --topic (default: as for all programs)")
    add("--verbose", action="store_true", help="log links, at the end what crossed")
    return parser


def settings_of(arguments: List[str]) -> Settings:
    """Returns the settings of a command line. Raises SettingsError, OSError, ImportError; SystemExit for usage."""
    read = _parser().parse_args(arguments)
    settings = Settings(
        channels=[ChannelRule(each, read.rate) for each in read.channel],
        topics=[TopicRule(name=each, direction=read.direction, max_rate=read.rate) for each in read.topic],
    )
    if read.file:
        read_file(read.file, settings)
    given = {"lcm_url": read.lcm_url, "fec": read.fec, "max_delay_ms": read.max_delay, "key_file": read.key_file}
    for name, value in {**given, "broker": read.broker}.items():
        if value is not None:
            setattr(settings, name, value)
    for name in ("listen", "connect", "accept", "allow"):
        setattr(settings, name, getattr(read, name) or getattr(settings, name))
    settings.check()
    log_to_stderr("orc bridge lcm", read.verbose)
    return settings


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the tunnel, and returns the exit code."""
    return run("orc bridge lcm", lambda: Tunnel(settings_of(sys.argv[1:] if arguments is None else arguments)), logger)


if __name__ == "__main__":
    sys.exit(main())
