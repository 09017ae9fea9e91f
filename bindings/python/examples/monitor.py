#!/usr/bin/env python3
"""Watches topics with asyncio, all in one thread: how often they come, how old they are, what was skipped."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from dataclasses import dataclass

import orc


@dataclass
class Seen:
    """Of one topic, since the last line."""

    samples: int = 0
    bytes: int = 0
    missed: int = 0
    oldest_ns: int = 0


async def watch(subscriber: orc.Subscriber, all_seen: dict[str, Seen]) -> None:
    """Counts until the topic is released."""
    async for message in subscriber:
        seen = all_seen[subscriber.topic]
        seen.samples += 1
        seen.missed += message.missed
        seen.oldest_ns = max(seen.oldest_ns, message.age_ns)
        seen.bytes += len(message)


async def monitor(participant: orc.Participant, topics: list[str], every_s: float, lines: int) -> None:
    """Prints a line per topic each `every_s` seconds; `lines` times, 0: for ever."""
    seen = {topic: Seen() for topic in topics}
    watching = [asyncio.ensure_future(watch(participant.request_topic(topic), seen)) for topic in topics]
    printed = 0
    while lines == 0 or printed < lines:
        await asyncio.sleep(every_s)
        for topic in topics:
            now, seen[topic] = seen[topic], Seen()
            state = f"oldest {now.oldest_ns / 1e6:.3f} ms" if now.samples else "silent"
            print(
                f"{topic}: {now.samples / every_s:.1f} Hz, {now.bytes / every_s / 1000:.1f} kB/s, "
                f"skipped {now.missed}, {state}",
                flush=True,
            )
        printed += 1
    for task in watching:
        task.cancel()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("topics", nargs="+", metavar="TOPIC")
    parser.add_argument("--broker", default="", help="endpoint of the broker (default: $ORC_BROKER, else this user's)")
    parser.add_argument("--every", type=float, default=1.0, metavar="S", help="seconds between lines (default: 1)")
    parser.add_argument("--lines", type=int, default=0, metavar="N", help="end after so many (default: never)")
    options = parser.parse_args()
    with orc.Participant(options.broker, name="monitor") as participant:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(monitor(participant, options.topics, options.every, options.lines))


if __name__ == "__main__":
    main()
