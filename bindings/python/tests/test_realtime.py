"""Where the participant's own thread runs, and memory that stays in place. Each in a process of its own."""

from __future__ import annotations

import os
from typing import Any, List

import pytest

from support import run_python

MODULES = {"native": "import orc"}  # orc.pure has none of this
_REFUSED = "refused"


def run(backend_of: Any, module: str, code: str) -> List[str]:
    """Returns the lines that `code` prints; skips the test when the kernel refused what it asks for."""
    backend_of(module)
    done = run_python(code.replace("MODULE", MODULES[module]))
    lines = done.stdout.splitlines()
    if lines and lines[0].startswith(_REFUSED):
        pytest.skip(lines[0])
    return lines


# Prints name, policy, priority and CPUs of each thread but the main one, when topics are registered.
_THREADS = """
import os
MODULE
try:
    participant = orc.Participant(OPTIONS)
    participant.register_topic("t")
    participant.request_topic("t", connected_within_ms=20000)
except orc.NoPermission as refused:
    print("refused:", refused)
    raise SystemExit
for thread in os.listdir("/proc/self/task"):
    if int(thread) != os.getpid():
        name = open(f"/proc/self/task/{thread}/comm").read().strip()
        print(name, os.sched_getscheduler(int(thread)), os.sched_getparam(int(thread)).sched_priority,
              *sorted(os.sched_getaffinity(int(thread))), sep="|")
participant.close()
"""


def threads_of(lines: List[str]) -> List[List[str]]:
    """Of liborc and libzmq; numpy has threads, too."""
    return [line.split("|") for line in lines if line.startswith(("orc|", "ZMQ"))]


@pytest.mark.parametrize("module", MODULES)
def test_the_threads_have_the_priority_and_the_cpus(backend_of: Any, broker: Any, module: str) -> None:
    cpu = max(os.sched_getaffinity(0))
    options = f"housekeeping_priority=7, housekeeping_cpus=[{cpu}]"
    threads = threads_of(run(backend_of, module, _THREADS.replace("OPTIONS", options)))
    assert len(threads) >= 2
    for name, policy, priority, *cpus in threads:
        assert (int(policy), int(priority)) == (os.SCHED_FIFO, 7), name
        assert cpus == [str(cpu)], name


@pytest.mark.parametrize("module", MODULES)
def test_priority_0_leaves_the_policy_of_the_thread_that_makes_it(backend_of: Any, broker: Any, module: str) -> None:
    code = """
import os, sys
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))
except PermissionError as refused:
    print("refused:", refused)
    sys.exit()
"""
    inherited = threads_of(run(backend_of, module, code + _THREADS.replace("OPTIONS", "")))
    assert {(int(policy), int(priority)) for _, policy, priority, *_ in inherited} == {(os.SCHED_FIFO, 5)}
    ordinary = threads_of(run(backend_of, module, code + _THREADS.replace("OPTIONS", "housekeeping_priority=0")))
    assert {(int(policy), int(priority)) for _, policy, priority, *_ in ordinary} == {(os.SCHED_OTHER, 0)}


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize(
    "options",
    ["housekeeping_priority=100", "housekeeping_priority=-2", "housekeeping_cpus=[100000]", "housekeeping_cpus=[-1]"],
)
def test_a_wrong_option_is_told(backend_of: Any, run_dir: Any, module: str, options: str) -> None:
    lines = run(
        backend_of,
        module,
        f"""
        MODULE
        try:
            orc.Participant({options}, broker_timeout_ms=0).register_topic("t")
        except orc.BadArgument as error:
            print("told", error)
        """,
    )
    assert len(lines) == 1 and options.split("=")[0] in lines[0]


@pytest.mark.parametrize("module", MODULES)
def test_without_the_permission_set_up_calls_say_how_to_get_it(backend_of: Any, run_dir: Any, module: str) -> None:
    code = """
        import os, resource
        MODULE
        resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
        os.chmod(os.environ["XDG_RUNTIME_DIR"], 0o777)
        if os.getuid() == 0:
            os.setuid(65534)
        with orc.Participant(housekeeping_priority=7, broker_timeout_ms=0) as participant:
            for call in participant.register_topic, participant.request_topic:
                try:
                    call("t")
                except orc.NoPermission as error:
                    print(error)
    """
    lines = run(backend_of, module, code)
    assert len(lines) == 2
    assert all("LimitRTPRIO" in line and "ulimit -r" in line and "CAP_SYS_NICE" in line for line in lines)


_LOCKED = """
MODULE
import re
try:
    orc.lock_memory(heap_bytes=4 << 20)
except orc.NoPermission as refused:
    print("refused:", refused)
    raise SystemExit
status = open("/proc/self/status").read()
print(re.search("VmLck:\\\\s+(\\\\d+)", status)[1], re.search("VmRSS:\\\\s+(\\\\d+)", status)[1])
"""


@pytest.mark.parametrize("module", MODULES)
def test_lock_memory_locks_what_there_is(backend_of: Any, module: str) -> None:
    (line,) = run(backend_of, module, _LOCKED)
    locked, resident = (int(each) for each in line.split())
    assert locked > 4 << 10 and locked * 10 >= resident * 9


@pytest.mark.parametrize("module", MODULES)
def test_lock_memory_without_the_permission_says_how_to_get_it(backend_of: Any, module: str) -> None:
    code = """
        import os, resource
        MODULE
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
        if os.getuid() == 0:
            os.setuid(65534)
        try:
            orc.lock_memory()
        except orc.NoPermission as error:
            print(error)
    """
    (line,) = run(backend_of, module, code)
    assert "LimitMEMLOCK" in line and "ulimit -l" in line and "CAP_IPC_LOCK" in line
