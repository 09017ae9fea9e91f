"""A camera of one picture; afterwards a viewer must get it."""

import numpy as np
import orc

with orc.Participant() as participant:
    camera = participant.register_topic("camera", transports="shm")
    image = np.arange(48, dtype=np.uint8)
    # block
    with orc.Participant() as viewer:
        picture = viewer.request_topic("camera", connected_within_ms=10000).recv(10000)
        assert picture is not None and bytes(picture) == image.tobytes()
