"""Waiting on asyncio: through the descriptor, without a thread."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Awaitable, List, TypeVar

import pytest

T = TypeVar("T")


async def _soon(awaitable: Awaitable[T]) -> T:
    return await asyncio.wait_for(awaitable, 20)


async def _turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_recv_waits_and_others_run(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)

    async def main() -> bytes:
        receiving = asyncio.ensure_future(subscriber.recv())
        await _turns()
        assert not receiving.done()
        publisher.send_msg(b"now")
        return bytes(await _soon(receiving))

    threads = threading.active_count()
    assert asyncio.run(main()) == b"now"
    assert threading.active_count() == threads


def test_what_is_there_is_taken_at_once(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    publisher.send_msg(b"1")
    assert bytes(asyncio.run(_run(lambda: subscriber.recv()))) == b"1"


async def _run(make: Any) -> Any:
    return await _soon(make())


def test_async_for_gives_all_in_order_and_ends_when_closed(backend: Any, broker: Any) -> None:
    async def main() -> List[bytes]:
        with backend.Participant() as participant:
            publisher = participant.register_topic("t")
            subscriber = participant.request_topic("t", conflate=0, depth=100, connected_within_ms=20000)

            async def send() -> None:
                for number in range(50):
                    publisher.send_msg(b"%d" % number)
                    await asyncio.sleep(0)

            sending = asyncio.ensure_future(send())
            got = []
            async for message in subscriber:
                got.append(bytes(message))
                if len(got) == 50:
                    participant.close()
            await sending
            return got

    assert asyncio.run(_run(main)) == [b"%d" % number for number in range(50)]


def test_closing_elsewhere_ends_the_wait(backend: Any, broker: Any) -> None:
    async def main() -> None:
        participant = backend.Participant()
        subscriber = participant.request_topic("t")
        waiting = [asyncio.ensure_future(subscriber.recv()) for _ in range(3)]
        await _turns()
        threading.Thread(target=participant.close).start()
        outcomes = await _soon(asyncio.gather(*waiting, return_exceptions=True))
        assert [type(each) for each in outcomes] == [backend.Closed] * 3

    asyncio.run(main())


def test_several_wait_and_each_sample_goes_to_one(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend, conflate=0, depth=100)

    async def main() -> None:
        waiting = [asyncio.ensure_future(subscriber.recv()) for _ in range(5)]
        await _turns()
        for number in range(5):
            publisher.send_msg(b"%d" % number)
        got = await _soon(asyncio.gather(*waiting))
        assert sorted(bytes(each) for each in got) == [b"0", b"1", b"2", b"3", b"4"]

    asyncio.run(main())


def test_cancelling_loses_no_sample(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend, conflate=0, depth=1000)

    async def main() -> None:
        got: List[int] = []
        for number in range(200):
            first = asyncio.ensure_future(subscriber.recv())
            second = asyncio.ensure_future(subscriber.recv())
            await _turns(number % 4)
            publisher.send_msg(b"%d" % number)
            await _turns(number % 7)
            first.cancel()
            for each in await _soon(asyncio.gather(first, _take(second, first), return_exceptions=True)):
                if not isinstance(each, (BaseException, type(None))):
                    got.append(int(bytes(each)))
        assert got == list(range(200))

    async def _take(second: Any, first: Any) -> Any:
        await asyncio.wait([first])
        if not first.cancelled():
            second.cancel()
            await asyncio.wait([second])
            return None if second.cancelled() else second.result()
        return await second

    asyncio.run(main())


def test_one_loop_after_the_other_and_two_at_once(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend, conflate=0, depth=100)

    async def one() -> bytes:
        return bytes(await _soon(subscriber.recv()))

    for number in range(3):
        publisher.send_msg(b"%d" % number)
        assert asyncio.run(one()) == b"%d" % number

    got: List[bytes] = []
    threads = [threading.Thread(target=lambda: got.append(asyncio.run(one()))) for _ in range(2)]
    for thread in threads:
        thread.start()
    publisher.send_msg(b"a")
    publisher.send_msg(b"b")
    for thread in threads:
        thread.join(20)
    assert sorted(got) == [b"a", b"b"]


def test_two_handles_of_one_request_share_the_wait(backend: Any, broker: Any) -> None:
    async def main() -> None:
        with backend.Participant() as participant:
            publisher = participant.register_topic("t")
            first = participant.request_topic("t", conflate=0, depth=10, connected_within_ms=20000)
            second = participant.subscriber("t")
            waiting = [asyncio.ensure_future(each.recv()) for each in (first, second)]
            await _turns()
            publisher.send_msg(b"1")
            publisher.send_msg(b"2")
            assert sorted(bytes(each) for each in await _soon(asyncio.gather(*waiting))) == [b"1", b"2"]

    asyncio.run(main())


def test_a_loop_that_ends_with_a_waiter_leaves_nothing_behind(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)

    async def abandon() -> None:
        asyncio.ensure_future(subscriber.recv())
        await _turns()

    asyncio.run(abandon())
    loop = asyncio.new_event_loop()
    task = loop.create_task(subscriber.recv())
    loop.call_soon(loop.stop)
    loop.run_forever()
    task.cancel()
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    publisher.send_msg(b"later")
    assert bytes(asyncio.run(_run(lambda: subscriber.recv()))) == b"later"


def test_the_descriptor_is_readable_when_there_is_something(backend: Any, link: Any) -> None:
    import select

    publisher, subscriber = link(backend)
    poll = select.poll()
    poll.register(subscriber.fileno(), select.POLLIN)
    while subscriber.recv_msg(0) is not None or poll.poll(50):
        pass
    publisher.send_msg(b"x")
    assert poll.poll(20000)
    assert bytes(subscriber.recv_msg(20000)) == b"x"


@pytest.mark.parametrize("transports", ["shm", "inproc", "tcp"])
def test_every_transport_of_the_native_backend(native: Any, link: Any, transports: str) -> None:
    publisher, subscriber = link(native, transports, conflate=0, depth=100)

    async def main() -> List[int]:
        got = []
        for number in range(30):
            receiving = asyncio.ensure_future(subscriber.recv())
            await _turns(number % 3)
            publisher.send_msg(b"%d" % number)
            got.append(int(bytes(await _soon(receiving))))
        return got

    assert asyncio.run(main()) == list(range(30))


def test_recv_with_a_timeout_is_recv_msg(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    assert subscriber.recv(0) is None
    publisher.send(b"1")
    assert bytes(subscriber.recv(20_000)) == b"1"
    assert subscriber.recv(timeout_ms=10) is None
    for wrong in ("1", 1.5):
        with pytest.raises(TypeError):
            subscriber.recv(wrong)
