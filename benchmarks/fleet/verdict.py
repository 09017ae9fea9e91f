"""Whether a fleet of this size works, and what ran out if it does not."""

from __future__ import annotations

import os

from one_fleet import Figures

LEAST_DELIVERED, LONGEST_P99_MS = 0.99, 1000.0
LEAST_SENT = 0.95
ONE_CORE = 0.9  # of a process whose work is that of one thread
ALL_CORES = 0.95
LEAST_BYTES = 256 << 20


def failure(found: Figures) -> str:
    """Returns what does not work, or an empty text."""
    if found.known_s == float("inf"):
        return f"{found.topics_known} topics known in time"
    if found.delivered < LEAST_DELIVERED:
        return f"{100 * found.delivered:.1f} % delivered"
    if found.p99_ms > LONGEST_P99_MS:
        return f"p99 of the age {found.p99_ms:.0f} ms"
    if found.sent_hz < LEAST_SENT * found.offered_hz:
        return f"the robots sent {found.sent_hz:.0f} of {found.offered_hz:.0f} samples/s"
    return ""


def ran_out(found: Figures, cores: int | None = None) -> str:
    """Returns the resource that ran out, as far as it was measured."""
    cores = cores or len(os.sched_getaffinity(0))
    if found.available_bytes < LEAST_BYTES:
        return "memory of this machine"
    if found.fleet_desk_cores >= ONE_CORE:
        return "the core of the fleet desk"
    if found.simulated_busiest_cores >= ONE_CORE:
        return "the core of a process that simulates robots"
    if found.machine_cores >= ALL_CORES * cores:
        parts = {
            "router": found.router_cores,
            "bridges": found.bridge_cores * found.real,
            "programs of the robots": found.robots_cores,
            "fleet desk": found.fleet_desk_cores,
            "everything else on it": found.others_cores,
        }
        shown = ", ".join(f"{name} {used:.2f}" for name, used in sorted(parts.items(), key=lambda part: -part[1]))
        return f"all {cores} cores of this machine: {shown}"
    return "none of the measured resources"
