"""Calls on asyncio: without a thread per call."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any, Awaitable, List, TypeVar

import pytest

from calls_fixtures import AMPLE_S, SERVICE, Sides
from support import wait_until

T = TypeVar("T")


async def _soon(awaitable: Awaitable[T]) -> T:
    return await asyncio.wait_for(awaitable, 20)


async def _until(condition: Any) -> None:
    async def poll() -> None:
        while not condition():
            await asyncio.sleep(0.005)

    await _soon(poll())


def test_many_calls_are_awaited_and_others_run(sides: Sides) -> None:
    sides.serve(threads=1, queue=1000)
    sides.call().result()

    async def main() -> None:
        threads = threading.active_count()
        held = asyncio.ensure_future(_awaited(sides.call("hold anyway")))
        others = [asyncio.ensure_future(_awaited(sides.call(number=number))) for number in range(100)]
        await _until(lambda: len(sides.orders.started) == 2)
        assert not held.done() and threading.active_count() <= threads + 1, "one thread runs all callbacks"
        sides.orders.released.set()
        await _soon(held)
        got = await _soon(asyncio.gather(*others))
        assert [each["number"] for each in got] == list(range(100))

    asyncio.run(main())


async def _awaited(future: Any) -> Any:
    return await future


def test_errors_are_raised(sides: Sides) -> None:
    sides.serve()

    async def main() -> None:
        with pytest.raises(sides.orc.CallError, match="IndexError: as ordered"):
            await _soon(_awaited(sides.call("raise")))
        with pytest.raises(sides.orc.CallError) as late:
            await _soon(_awaited(sides.client.call("nobody/serves/this", 1, deadline=0.05)))
        assert late.value.code is sides.orc.CallErrc.no_service

    asyncio.run(main())


def test_cancelling_a_task_cancels_its_call(some_sides: Sides) -> None:
    some_sides.serve(threads=1)

    async def main() -> None:
        task = asyncio.ensure_future(_awaited(some_sides.call("hold")))
        await _until(lambda: some_sides.orders.started)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await _until(lambda: some_sides.orders.cancelled == 1)

    asyncio.run(main())


def test_a_descriptor_wakes_the_loop_for_feedback(some_sides: Sides) -> None:
    some_sides.serve(threads=1)

    async def main() -> List[int]:
        loop = asyncio.get_running_loop()
        future = some_sides.call("count", to=500)
        seen: List[int] = []
        woken = asyncio.Event()
        loop.add_reader(future, woken.set)
        try:
            while not future.ready():
                await _soon(woken.wait())
                woken.clear()
                number = future.feedback()
                if number is not None:
                    seen.append(number)
        finally:
            loop.remove_reader(future)
        number = future.feedback()
        return seen if number is None else [*seen, number]

    seen = asyncio.run(main())
    assert seen == sorted(set(seen)) and seen[-1] == 499


def test_a_loop_that_is_closed_meanwhile_is_no_problem(some_sides: Sides) -> None:
    some_sides.serve(threads=1)
    future = some_sides.call("hold anyway")

    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(_awaited(future)), 0.05)

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(main())
        for task in asyncio.all_tasks(loop):
            task.cancel()
    finally:
        loop.close()
    some_sides.orders.released.set()
    assert some_sides.client.call(SERVICE, {}, deadline=AMPLE_S).result() == {}
    wait_until(future.ready)


def test_sys_exit_in_a_callback_ends_no_thread_that_serves_others(some_sides: Sides) -> None:
    some_sides.serve()
    called = threading.Event()

    def leave(future: Any) -> None:
        called.set()
        sys.exit(3)

    some_sides.call().add_done_callback(leave)
    assert called.wait(AMPLE_S)

    async def main() -> None:
        assert (await _soon(_awaited(some_sides.call(number=2))))["number"] == 2

    asyncio.run(main())
