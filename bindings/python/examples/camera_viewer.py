#!/usr/bin/env python3
"""Looks at the frames of camera.py where they are: over shm the array is the publisher's memory, without a copy."""

from __future__ import annotations

import argparse
import contextlib

import numpy as np
from camera import SHAPE

import orc


def view(message: orc.Message) -> np.ndarray:
    """The frame, (height, width) of uint8, read-only. It keeps its memory until the array is dropped."""
    height, width = np.frombuffer(message, SHAPE, 1)[0]
    return np.frombuffer(message, np.uint8, offset=SHAPE.itemsize).reshape(height, width)


def show(frames: orc.Subscriber, count: int) -> None:
    """Describes the next `count` frames (0: all); the newest, when it is too slow for all of them."""
    seen = 0
    while count == 0 or seen < count:
        message = frames.recv(-1)
        if message is None:
            continue
        image = view(message)
        print(
            f"{image.shape[1]}x{image.shape[0]}, bar at {image[0].argmax()}, {message.age_ns / 1000:.0f} us old, "
            f"skipped {message.missed}, over {frames.link.transport}",
            flush=True,
        )
        seen += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--broker", default="", help="endpoint of the broker (default: $ORC_BROKER, else this user's)")
    parser.add_argument("--topic", default="camera", help="(default: %(default)s)")
    parser.add_argument("--frames", type=int, default=0, metavar="N", help="end after so many (default: never)")
    options = parser.parse_args()
    with orc.Participant(options.broker, name="camera_viewer") as participant:
        frames = participant.request_topic(options.topic)
        with contextlib.suppress(KeyboardInterrupt):
            show(frames, options.frames)


if __name__ == "__main__":
    main()
