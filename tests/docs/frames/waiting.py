"""A program on asyncio that waits for `position`, which the robot sends until the program has released the topic."""

import asyncio
import struct

import orc


async def program(position):
    message = None
    # block
    assert struct.unpack("d", message) > (0.0,)


async def main():
    with orc.Participant() as robot, orc.Participant() as participant:
        source = robot.register_topic("robot_position")
        position = participant.request_topic("robot_position")
        task = asyncio.create_task(program(position))
        for sample in range(1, 100):
            source.send(struct.pack("d", sample))
            await asyncio.sleep(0.01)
        assert not task.done(), task.result()
        participant.release_topic("robot_position")  # ends `async for`
        await asyncio.wait_for(task, 10)


asyncio.run(main())
