"""Forward kinematics and Jacobian of the Franka Panda, up to the middle of its flange.

Denavit-Hartenberg parameters in Craig's convention, from Franka's "Robot and interface specifications"
(frankaemika.github.io/docs/control_parameters.html). Lengths in m, angles in rad, all in the frame of the base.
"""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# Per joint: a (m), d (m), and alpha in quarter turns; the Panda's are all -1, 0 or 1.
_DH = (
    (0.0, 0.333, 0),
    (0.0, 0.0, -1),
    (0.0, 0.316, 1),
    (0.0825, 0.0, 1),
    (-0.0825, 0.384, -1),
    (0.0, 0.0, 1),
    (0.088, 0.0, 1),
)
FLANGE_D = 0.107  # from the origin of link 7 to its flange


class Pose(NamedTuple):
    """Where the flange is, and how the joints move it."""

    position: Array  # (3,) m
    rotation: Array  # (3, 3), its third column points out of the flange
    jacobian: Array  # (6, 7), linear rows (m/rad) above angular ones


def flange(q: Array) -> Pose:
    """Pose of the flange at joint angles q (7,), in rad. Pure.

    Plain floats: for 3-vectors they are five times as fast as numpy's arrays (14 µs instead of 65).
    """
    px = py = pz = 0.0
    xx, xy, xz, yx, yy, yz, zx, zy, zz = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    joints = []
    for (a, d, turn), angle in zip(_DH, q.tolist()):
        px, py, pz = px + a * xx, py + a * xy, pz + a * xz
        if turn:
            yx, yy, yz, zx, zy, zz = turn * zx, turn * zy, turn * zz, -turn * yx, -turn * yy, -turn * yz
        px, py, pz = px + d * zx, py + d * zy, pz + d * zz
        c, s = cos(angle), sin(angle)
        xx, xy, xz, yx, yy, yz = (
            c * xx + s * yx,
            c * xy + s * yy,
            c * xz + s * yz,
            c * yx - s * xx,
            c * yy - s * xy,
            c * yz - s * xz,
        )
        joints.append((px, py, pz, zx, zy, zz))
    px, py, pz = px + FLANGE_D * zx, py + FLANGE_D * zy, pz + FLANGE_D * zz
    columns = [
        (ay * (pz - oz) - az * (py - oy), az * (px - ox) - ax * (pz - oz), ax * (py - oy) - ay * (px - ox), ax, ay, az)
        for ox, oy, oz, ax, ay, az in joints
    ]
    return Pose(np.array((px, py, pz)), np.array(((xx, yx, zx), (xy, yy, zy), (xz, yz, zz))), np.array(columns).T)
