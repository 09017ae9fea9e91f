"""A peer on the lcm of PyPI: the verbs and lines of peer.h. And for types that lcm-gen made:

    typed URL CHANNEL REPLY DIR   sends a sample of interop.pose_t (module in DIR) on CHANNEL until one comes back on
                                  REPLY that is equal to it; says "fingerprint HEX", "sent HEX" and "equal"
"""
import array
import select
import sys
import time
import zlib

import lcm

STEP, GOLDEN, WORD = 0xD1B54A32D192ED03, 0x9E3779B97F4A7C15, (1 << 64) - 1


def told(life, number, size):
    """The content of told_samples.h."""
    first = (((life << 32) + number + 1) * GOLDEN + size) & WORD
    words = array.array("Q", ((first + i * STEP) & WORD for i in range((size - 1) // 8)))
    return (array.array("I", (life, number)).tobytes() + words.tobytes())[:size]


def say(line):
    print(line, flush=True)


def report(channel, data):
    life, number = array.array("I", data[:8]) if len(data) >= 8 else (0, 0)
    right = len(data) >= 10 and data == told(life, number, len(data))
    say(f"{channel} {len(data)} {zlib.crc32(data):08x} {life} {number} {'right' if right else 'WRONG'}")


def has_input(seconds):
    return bool(select.select([sys.stdin], [], [], seconds)[0])


def at_end_of_input(seconds=0):
    return has_input(seconds) and not sys.stdin.readline()


def send(url, channel, life, size, count, hz):
    out = lcm.LCM(url)
    life, size, count, hz = int(life), int(size), int(count), float(hz)
    due, sent = time.monotonic(), 0
    while (count == 0 or sent < count) and not at_end_of_input():
        sent += 1
        for i, name in enumerate(channel.split(",")):
            out.publish(name, told(life + i, sent, size))
        due += 1 / hz if hz else 0
        time.sleep(max(0, due - time.monotonic()))
    say(f"sent {sent}")
    while not at_end_of_input(1):
        pass


def receive(url, channel, use=report, hold=False, capacity=1000):
    end = lcm.LCM(url)
    subscription = end.subscribe(channel, use)
    if capacity:
        subscription.set_queue_capacity(capacity)
    say("ready")
    while hold and not has_input(1):
        pass
    while not at_end_of_input():
        end.handle_timeout(100)


def newest(url, channel):
    receive(url, channel, capacity=0)


def hold(url, channel):
    receive(url, channel, hold=True, capacity=0)


def echo(url, channel, reply):
    out = lcm.LCM(url)
    receive(url, channel, lambda _, data: out.publish(reply, data))


def typed(url, channel, reply, directory):
    sys.path.insert(0, directory)
    from interop import pose_t  # made by lcm-gen

    sample = pose_t()
    sample.utime, sample.name = 1 << 40, "ünïcode"
    sample.position, sample.num_ranges, sample.ranges = (1.5, -2.25, 1e300), 3, [0.5, -0.25, 3.0]
    packed = sample.encode()
    got = []
    end = lcm.LCM(url)
    end.subscribe(reply, lambda _, data: got.append(data))
    say(f"fingerprint {pose_t._get_packed_fingerprint().hex()}")
    say(f"sent {packed.hex()}")
    while not got and not at_end_of_input():
        end.publish(channel, packed)
        end.handle_timeout(100)
    back = pose_t.decode(got[0])  # raises when the fingerprint is another one
    say("equal" if got[0] == packed and back.encode() == packed and back.name == sample.name else "DIFFERENT")


if __name__ == "__main__":
    {f.__name__: f for f in (send, receive, newest, hold, echo, typed)}[sys.argv[1]](*sys.argv[2:])
