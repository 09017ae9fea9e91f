"""Makes expected.h: what numpy and scipy find between irregular samples, for history_test.cpp.

usage: make_expected.py > expected.h     (needs numpy and scipy)
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp

count, queries = 40, 60
random = np.random.default_rng(17)
start = 1_790_000_000_000_000_000
stamps = start + np.cumsum(random.integers(200_000, 3_000_000, count))
x = (stamps - stamps[0]).astype(float)
q = np.cumsum(random.normal(size=(count, 3)), axis=0)
rotations = Rotation.from_rotvec(np.cumsum(random.normal(scale=0.4, size=(count, 3)), axis=0))
# Equal rotations in different lengths and signs: a topic may hold any of them.
quaternions = rotations.as_quat() * random.uniform(0.5, 2, (count, 1)) * random.choice([-1, 1], (count, 1))

asked = np.concatenate([random.integers(stamps[0], stamps[-1], queries - 4), stamps[[0, 1, -2, -1]]])
at = (asked - stamps[0]).astype(float)
nearest = q[[int(np.argmin(np.abs(stamps - each))) for each in asked]]
linear = np.stack([np.interp(at, x, q[:, i]) for i in range(3)], axis=1)
cubic = CubicHermiteSpline(x, q, np.gradient(q, x, axis=0))(at)
slerp = Slerp(x, rotations)(at).as_quat()
means = np.stack([q[max(0, i - 9) : i + 1].mean(axis=0) for i in range(count)])


def table(name: str, kind: str, rows: np.ndarray) -> None:
    values = np.atleast_2d(rows.T).T
    print(f"inline constexpr {kind} {name}[{values.shape[0]}][{values.shape[1]}] = {{")
    for row in values:
        print("    {" + ", ".join(float(v).hex() if kind == "double" else str(v) for v in row) + "},")
    print("};")


print("// Made by make_expected.py with numpy and scipy.")
print("#pragma once\n\n#include <cstdint>\n\nnamespace orc::test::expected {\n")
table("stamps_ns", "std::int64_t", stamps)
table("q", "double", q)
table("quaternions", "double", quaternions)
table("asked_ns", "std::int64_t", asked)
table("nearest", "double", nearest)
table("linear", "double", linear)
table("cubic", "double", cubic)
table("slerp", "double", slerp)
table("mean_of_ten", "double", means)
print("\n}  // namespace orc::test::expected")
