"""Request and response of iceoryx2. Both ends sleep in the listener of an event, which the other end notifies."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import iceoryx2 as iox2
from support.round_trips import STOP
from trial import Trial

TIMEOUT = iox2.Duration.from_secs(10)
BYTES = iox2.Slice[ctypes.c_uint8]


class _End:
    def __init__(self, trial: Trial, hears: str, notifies: str) -> None:
        iox2.set_log_level(iox2.LogLevel.Error)
        config = iox2.config.default()
        config.global_cfg.root_path = iox2.Path.new(f"{trial.directory}/iceoryx2")
        config.global_cfg.prefix = iox2.FileName.new(f"{Path(trial.directory).name}.")
        self._node = iox2.NodeBuilder.new().config(config).create(iox2.ServiceType.Ipc)
        self._size = trial.size
        self._name = trial.name
        self.service = self._builder("").request_response(BYTES, BYTES).open_or_create()
        self._listener = self._builder(hears).event().open_or_create().listener_builder().create()
        self._notifier = self._builder(notifies).event().open_or_create().notifier_builder().create()
        self.notify = self._notifier.notify

    def _builder(self, suffix: str) -> Any:
        return self._node.service_builder(iox2.ServiceName.new(self._name + suffix))

    def sleep(self) -> None:
        if not self._listener.timed_wait(TIMEOUT):
            raise TimeoutError("nothing came")

    def close(self) -> None:
        """Releases what the attributes are, which removes the files."""
        self.__dict__.clear()


class Server(_End):
    address = ""  # the name is enough

    def __init__(self, trial: Trial) -> None:
        super().__init__(trial, "/requests", "/replies")
        self._server = self.service.server_builder().initial_max_slice_len(trial.size).create()

    def serve(self) -> None:
        while True:
            request = self._server.receive()
            if request is None:
                self.sleep()
                continue
            payload = request.payload()
            size = payload.len()
            if size == len(STOP):
                return
            reply = request.loan_slice_uninit(size)
            ctypes.memmove(reply.payload_ptr, payload.as_ptr(), size)
            reply.assume_init().send()
            self.notify()


class Client(_End):
    def __init__(self, trial: Trial, address: str) -> None:
        super().__init__(trial, "/replies", "/requests")
        self._client = self.service.client_builder().initial_max_slice_len(trial.size).create()
        self._reply: Any = None

    def call(self, request: bytearray) -> memoryview:
        size = len(request)
        loan = self._client.loan_slice_uninit(size)
        ctypes.memmove(loan.payload_ptr, (ctypes.c_uint8 * size).from_buffer(request), size)
        pending = loan.assume_init().send()
        self.notify()
        while (reply := pending.receive()) is None:
            self.sleep()
        self._reply = reply  # keeps the memory
        return reply.payload().as_memory_view().cast("B")

    def stop(self) -> None:
        self._client.loan_slice_uninit(len(STOP)).assume_init().send()
        self.notify()
