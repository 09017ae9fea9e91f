#!/usr/bin/env python3
"""Reads a topic of a recording (MCAP) into numpy arrays, prints their ranges, and plots them with matplotlib."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Iterator

import numpy as np
from mcap.reader import make_reader
from numpy.typing import NDArray


def dtype_of(struct: dict[str, Any], order: str) -> np.dtype[Any]:
    """The dtype of a struct schema, with its names, offsets and size."""
    formats: list[Any] = []
    for field in struct["fields"]:
        kind, shape = field["type"], tuple(field.get("shape", ()))
        if isinstance(kind, dict):
            base: Any = dtype_of(kind, order)
        elif kind == "char":  # the last dimension is the length of a text
            base, shape = (f"S{shape[-1]}", shape[:-1]) if shape else ("S1", ())
        else:
            base = np.dtype(kind).newbyteorder(order)
        formats.append((base, shape))
    names, offsets = ([field[key] for field in struct["fields"]] for key in ("name", "offset"))
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": struct["size"]})


def read(path: str, topic: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The receive times in ns since the Unix epoch, and the samples as one structured array."""
    times, data, dtype = [], [], None
    with open(path, "rb") as file:
        for schema, _, message in make_reader(file).iter_messages(topics=[topic]):
            if schema is None or schema.encoding != "struct":
                raise ValueError(f"{topic} has no struct type: orc log convert --to csv reads other encodings")
            struct = json.loads(schema.data)
            dtype = dtype or dtype_of(struct, ">" if struct["byte_order"] == "big" else "<")
            times.append(message.log_time)
            data.append(message.data)
    if dtype is None:
        raise ValueError(f"{path} has no samples of {topic}")
    return np.array(times, dtype=np.int64), np.frombuffer(b"".join(data), dtype=dtype)


def columns(samples: NDArray[Any], prefix: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    for name in samples.dtype.names or ():
        if samples[name].dtype.names:
            yield from columns(samples[name], f"{prefix}{name}.")
        elif samples[name].dtype.kind != "S":
            yield prefix + name, samples[name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("topic")
    parser.add_argument("--plot", metavar="FILE", help="write a plot: .png, .svg or .pdf; needs matplotlib")
    options = parser.parse_args()
    try:
        times, samples = read(options.file, options.topic)
    except (OSError, ValueError) as error:
        sys.exit(f"recording_arrays: {error}")
    seconds = (times - times[0]) / 1e9
    print(f"{options.topic}: {len(samples)} samples in {seconds[-1]:.3f} s")
    for name, values in columns(samples):
        print(f"{name}: {values.dtype}{list(values.shape)}, {values.min()} to {values.max()}")
        if options.plot:
            from matplotlib import pyplot

            pyplot.plot(seconds, values.reshape(len(seconds), -1), label=name)
    if options.plot:
        pyplot.legend()
        pyplot.savefig(options.plot)


if __name__ == "__main__":
    main()
