#!/usr/bin/env python3
"""A controller, after the template of the ORC paper (Listing 1): wait for the state, compute, command.

Start a broker (`orc-broker`), this, and a robot that publishes 7 joint angles (float64, rad) on robot_position:

    orc topic pub robot_position -r 1000 --hex $(printf '0%.0s' {1..112})
    orc topic echo robot_control --hex
"""

from __future__ import annotations

import argparse

import numpy as np

import orc

JOINTS = 7
SILENCE_MS = 100  # after which the robot is said to be silent
MAX_AGE_MS = 50  # of a position that is worth an answer


def control(q: np.ndarray) -> np.ndarray:
    """Torques (7,), N m, from joint angles (7,), rad: your controller goes here."""
    return -2.0 * q


def serve(participant: orc.Participant, position: str, command: str) -> None:
    """Answers every position with a command, for ever. The newest position counts; those it was too slow for do not.

    A robot that starts must not receive the last command of another day. Nor does a position that was under
    way for too long get an answer: max_age_ms. (Between hosts, the clocks must agree.)
    """
    commands = participant.register_command(command)
    positions = participant.request_topic(position, max_age_ms=MAX_AGE_MS)  # may be registered later
    silent = False
    while True:
        message = positions.recv(SILENCE_MS)
        if message is None:
            if not silent:
                print(f"waiting for {position}", flush=True)
            silent = True
            continue
        silent = False
        if len(message) != 8 * JOINTS:  # from the network: its size is checked before it is used
            print(f"{len(message)} bytes are no {JOINTS} joint angles", flush=True)
            continue
        if message.missed:
            print(f"skipped {message.missed}", flush=True)
        commands.send(control(np.frombuffer(message)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--broker", default="", help="endpoint of the broker (default: $ORC_BROKER, else this user's)")
    parser.add_argument("--position", default="robot_position", help="topic to read (default: %(default)s)")
    parser.add_argument("--command", default="robot_control", help="topic to write (default: %(default)s)")
    options = parser.parse_args()
    with orc.Participant(options.broker, name="force_controller") as participant:
        try:
            serve(participant, options.position, options.command)
        except KeyboardInterrupt:
            print("ended", flush=True)


if __name__ == "__main__":
    main()
