#!/usr/bin/env python3
"""A camera: renders each frame where subscribers on this host will read it, in shared memory. See camera_viewer.py."""

from __future__ import annotations

import argparse
import contextlib
import time

import numpy as np

import orc

SHAPE = np.dtype([("height", "<u4"), ("width", "<u4")])  # before the pixels, one byte each


def render(image: np.ndarray, number: int) -> None:
    """A bar that moves one column per frame. A driver would let the camera write here."""
    image[:] = 40
    image[:, number % image.shape[1]] = 255


def stream(camera: orc.Publisher, height: int, width: int, rate: float, frames: int) -> None:
    """Sends `frames` frames (0: for ever), `rate` per second."""
    due = time.monotonic()
    number = 0
    while frames == 0 or number < frames:
        with camera.loan(SHAPE.itemsize + height * width) as memory:
            np.frombuffer(memory, SHAPE, 1)[0] = (height, width)
            render(np.frombuffer(memory, np.uint8, offset=SHAPE.itemsize).reshape(height, width), number)
        number += 1
        due += 1.0 / rate
        time.sleep(max(0.0, due - time.monotonic()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--broker", default="", help="endpoint of the broker (default: $ORC_BROKER, else this user's)")
    parser.add_argument("--topic", default="camera", help="(default: %(default)s)")
    parser.add_argument("--size", type=int, nargs=2, default=(1080, 1920), metavar=("HEIGHT", "WIDTH"))
    parser.add_argument("--rate", type=float, default=30.0, metavar="HZ", help="(default: %(default)s)")
    parser.add_argument("--frames", type=int, default=0, metavar="N", help="end after so many (default: never)")
    options = parser.parse_args()
    height, width = options.size
    transports = ("shm", "ipc", "tcp") if orc.backend == "native" else ("ipc", "tcp")
    with orc.Participant(options.broker, name="camera") as participant:
        camera = participant.register_topic(
            options.topic, transports=transports, expected_size=SHAPE.itemsize + height * width
        )
        with contextlib.suppress(KeyboardInterrupt):
            stream(camera, height, width, options.rate, options.frames)


if __name__ == "__main__":
    main()
