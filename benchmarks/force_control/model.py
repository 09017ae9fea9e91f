"""The robot that stands in for the paper's: MuJoCo's Panda, flange down on a table, under torque control at 1 kHz.

The Panda (bodies, masses, meshes) is that of the PyPI package gymnasium-robotics, whose files are read where pip put
them. What the experiment needs besides is put on here: a flat plate instead of the gripper, the zero positions and the
limits of Franka's documentation, joints with inertia and friction, the table. Lengths in m, force in N, torque in N m.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from .kinematics import FLANGE_D, Array, flange
from .periods import PERIOD_S

TORQUE_LIMIT = np.array((87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0))
HOME = np.array((0.0, 0.15, 0.0, -2.25, 0.0, 2.40, 0.785))
PLATE_RADIUS, PLATE_HALF = 0.03, 0.005  # a flat cylinder
START_GAP = 0.0005  # between the plate's lowest point and the table
LINK7_KG, HAND_KG = 0.2, 0.7  # without and with the plate
CONTACT = (0.02, 1.0)  # MuJoCo's solref: time constant (s) and damping ratio of plate on table
ROTOR_INERTIA = 0.1  # kg m^2 behind the gears, as in MuJoCo Menagerie's Panda
VISCOUS = np.array((1.0, 1.0, 1.0, 1.0, 0.3, 0.3, 0.3))  # N m s/rad


@dataclass(frozen=True)
class Disturbance:
    """What differs from one repetition to the next; drawn from a seed, so that both controllers meet the same."""

    start: Array  # joint angles minus HOME, rad; the wrist then turns until the plate is flat
    payload_kg: float  # that the gravity compensation does not know of
    friction: float  # Coulomb, of joints 1 to 4; a third of it in the wrist
    force_noise: float  # standard deviation of the measured force, N, white

    @staticmethod
    def draw(random: np.random.Generator) -> Disturbance:
        return Disturbance(
            start=random.normal(0.0, 0.01, 7),
            payload_kg=random.uniform(-0.05, 0.05),
            friction=random.uniform(0.2, 1.0),
            force_noise=0.15,
        )


class Panda:
    """The simulated arm: where it is, and what a period under a torque does to it. Belongs to one thread."""

    def __init__(self, disturbance: Disturbance) -> None:
        start = _flat(HOME + disturbance.start)
        at = flange(start)
        self.table_z = _lowest(at.position[2], at.rotation[2, 2]) - START_GAP
        self._model = _compile(disturbance, self.table_z)
        self._data = mujoco.MjData(self._model)
        self._plate = self._data.site("plate")
        self.q: Array = self._data.qpos
        self.dq: Array = self._data.qvel
        self.q[:] = start
        mujoco.mj_forward(self._model, self._data)

    def step(self, torque: Array) -> None:
        """PERIOD_S under `torque` (7,) beyond gravity compensation; it is cut to the limits of the joints."""
        np.clip(torque, -TORQUE_LIMIT, TORQUE_LIMIT, out=self._data.qfrc_applied)
        mujoco.mj_step(self._model, self._data)

    def force(self) -> float:
        """True force between plate and table during the last step, N."""
        return float(self._data.sensordata[0])

    def gap(self) -> float:
        """From the table to the lowest point of the plate's rim, m; slightly negative in contact."""
        return _lowest(self._plate.xpos[2], self._plate.xmat[8]) - self.table_z


def _flat(q: Array) -> Array:
    """The posture near q whose flange faces straight down."""
    for _ in range(5):
        at = flange(q)
        q = q + np.linalg.pinv(at.jacobian[3:5]) @ (-at.rotation[1, 2], at.rotation[0, 2])
    return q


def _lowest(height: float, upright: float) -> float:
    """Height of the lowest point of the plate's rim, from that of its middle and the cosine of its tilt."""
    return float(height - PLATE_RADIUS * np.sqrt(max(0.0, 1.0 - upright * upright)))


def _compile(disturbance: Disturbance, table_z: float) -> mujoco.MjModel:
    folder = _package_files()
    spec = mujoco.MjSpec.from_string(
        f'<mujoco><include file="{folder}/assets.xml"/>'
        f'<worldbody><include file="{folder}/chain.xml"/></worldbody></mujoco>'
    )
    spec.option.timestep = PERIOD_S
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    _keep_the_links(spec, folder)
    _put_zeros_where_franka_has_them(spec)
    for body in spec.bodies:
        body.gravcomp = 1.0
    hand = spec.body("panda0_link7")
    hand.gravcomp = 1.0 - disturbance.payload_kg / HAND_KG
    _add_plate(spec, hand)
    _add_table(spec, table_z)
    model = spec.compile()
    # In arrays of the compiled model: what a joint of MjSpec takes here differs between MuJoCo 3 and 4.
    model.dof_armature[:] = ROTOR_INERTIA
    model.dof_damping[:] = VISCOUS
    model.dof_frictionloss[:] = disturbance.friction * np.array((3, 3, 3, 3, 1, 1, 1)) / 3
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def _package_files() -> Path:
    """Of gymnasium-robotics' Panda. The package itself is not imported: it would want Gymnasium."""
    found = importlib.util.find_spec("gymnasium_robotics")
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError("the Panda model is missing: pip install --no-deps gymnasium-robotics")
    return Path(next(iter(found.submodule_search_locations))) / "envs/assets/kitchen_franka/franka_assets"


def _keep_the_links(spec: mujoco.MjSpec, folder: Path) -> None:
    """Without the gripper and the meshes to look at; the others give the links their inertia but touch nothing."""
    for finger in ("panda0_leftfinger", "panda0_rightfinger"):
        spec.delete(spec.body(finger))
    for geom in list(spec.geoms):
        if geom.meshname.startswith("link") and geom.meshname.endswith("_col"):
            geom.contype = geom.conaffinity = 0
        else:
            spec.delete(geom)
    for mesh in list(spec.meshes):
        if mesh.name.startswith("link") and mesh.name.endswith("_col"):
            mesh.file = str(folder / "meshes/collision" / Path(mesh.file).name)
        else:
            spec.delete(mesh)
    spec.meshdir = ""


def _put_zeros_where_franka_has_them(spec: mujoco.MjSpec) -> None:
    """The package turned the zeros of joints 6 and 7 for its kitchen; kinematics.py and Franka count from these."""
    for name in ("panda0_link6", "panda0_link7"):
        body = spec.body(name)
        body.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
        body.quat = np.sqrt((0.5, 0.5, 0.0, 0.0))
    spec.joint("robot:panda0_joint6").range = (-0.0175, 3.7525)
    spec.joint("robot:panda0_joint4").range = (-3.0718, -0.0698)


def _add_plate(spec: mujoco.MjSpec, hand: mujoco.MjsBody) -> None:
    """The flat end effector, with its face where kinematics.flange is."""
    hand.add_geom(
        name="plate",
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        pos=(0.0, 0.0, FLANGE_D - PLATE_HALF),
        size=(PLATE_RADIUS, PLATE_HALF, 0.0),
        mass=HAND_KG - LINK7_KG,
    )
    hand.add_site(name="plate", pos=(0.0, 0.0, FLANGE_D), size=(2 * PLATE_RADIUS,) * 3)
    spec.add_sensor(name="force", type=mujoco.mjtSensor.mjSENS_TOUCH, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="plate")


def _add_table(spec: mujoco.MjSpec, height: float) -> None:
    spec.worldbody.add_geom(
        name="table",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=(0.0, 0.0, height),
        size=(1.0, 1.0, 0.1),
        friction=(0.4, 0.005, 0.0001),
        solref=CONTACT,
        priority=1,
    )
