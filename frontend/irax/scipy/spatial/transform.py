"""irax.scipy.spatial.transform: rotations in three dimensions, as unit quaternions (x, y, z, w)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import irax.numpy as jnp
from irax import random
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.strictness import library_methods
from irax.scipy.arguments import from_lists


def _floats(what: str, x: Any, size: int | None = None) -> Array:
    (array,) = as_arrays([from_lists(x)], what)
    if size is not None and (not array.ndim or array.shape[-1] != size):
        raise ValueError(f"{what}: expected shape (..., {size}), got {array.shape}")
    return convert(array, inexact_dtype(array.dtype))


def _unit(quat: Array) -> Array:
    return quat / jnp.linalg.norm(quat, axis=-1, keepdims=True)


def _product(p: Array, q: Array) -> Array:
    u, v, a, b = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    vector = a * v + b * u + jnp.cross(u, v)
    scalar = a * b - jnp.sum(u * v, -1, keepdims=True)
    return jnp.concatenate([vector, scalar], -1)


@library_methods
class Rotation(NamedTuple):
    """One rotation, or several; a pytree of its quaternions.

    >>> turn = Rotation.from_rotvec(irax.numpy.array([0.0, 0.0, 90.0]), degrees=True)
    >>> turn.apply(irax.numpy.array([1.0, 0.0, 0.0])).round(3) + 0.0
    Array([0., 1., 0.], dtype=float32)
    """

    quat: Array

    @classmethod
    def from_quat(cls, quat: Any) -> Rotation:
        """Make rotations from quaternions (..., 4), of any length but 0."""
        return cls(_unit(_floats("Rotation.from_quat", quat, 4)))

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> Rotation:
        """Make rotations from rotation vectors (..., 3): along the axis, as long as the angle."""
        v = _floats("Rotation.from_rotvec", rotvec, 3)
        v = jnp.deg2rad(v) if degrees else v
        square = jnp.sum(jnp.square(v), -1, keepdims=True)
        small = jnp.less(square, 1e-6)
        angle = jnp.sqrt(jnp.where(small, 1, square))
        scale = jnp.where(small, 0.5 - square / 48, jnp.sin(angle / 2) / angle)
        scalar = jnp.where(small, 1 - square / 8, jnp.cos(angle / 2))
        return cls(jnp.concatenate([v * scale, scalar], -1))

    @classmethod
    def from_matrix(cls, matrix: Any) -> Rotation:
        """Make rotations from orthogonal matrices (..., 3, 3)."""
        m = _floats("Rotation.from_matrix", matrix, 3)
        if m.shape[-2:] != (3, 3):
            raise ValueError(f"Rotation.from_matrix: expected shape (..., 3, 3), got {m.shape}")
        trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
        rows = [
            [1 - trace + 2 * m[..., i, i] if i == j else m[..., i, j] + m[..., j, i]
             for j in range(3)]
            for i in range(3)
        ]  # fmt: skip
        odd = [
            m[..., (i + 2) % 3, (i + 1) % 3] - m[..., (i + 1) % 3, (i + 2) % 3] for i in range(3)
        ]
        # Each is the quaternion times one of its parts: the largest is taken.
        choices = [jnp.stack([*rows[i], odd[i]], -1) for i in range(3)]
        choices.append(jnp.stack([*odd, 1 + trace], -1))
        sizes = jnp.stack([*(m[..., i, i] for i in range(3)), trace], -1)
        best = jnp.argmax(sizes, -1)[..., None, None]
        quat = jnp.take_along_axis(jnp.stack(choices, -2), best, -2)
        return cls(_unit(quat[..., 0, :]))

    @classmethod
    def from_mrp(cls, mrp: Any) -> Rotation:
        """Make rotations from modified Rodrigues parameters (..., 3): axis times tan(angle / 4)."""
        v = _floats("Rotation.from_mrp", mrp, 3)
        square = jnp.sum(jnp.square(v), -1, keepdims=True)
        return cls(jnp.concatenate([2 * v, 1 - square], -1) / (1 + square))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Rotation:
        """Make rotations from angles around axes in turn: fixed ("xyz") or rotated ("XYZ")."""
        if not 1 <= len(seq) <= 3 or not (set(seq) <= set("xyz") or set(seq) <= set("XYZ")):
            raise ValueError(f"Rotation.from_euler: seq must be 1 to 3 of xyz or XYZ, got {seq!r}")
        _check_turns("Rotation.from_euler", seq)
        a = _floats("Rotation.from_euler", angles)
        a = a[..., None] if len(seq) == 1 and (not a.ndim or a.shape[-1] != 1) else a
        if a.shape[-1] != len(seq):
            raise ValueError(f"Rotation.from_euler: {seq!r} takes shape (..., {len(seq)})")
        total: Rotation | None = None
        for i, axis in enumerate(seq):
            direction = jnp.asarray(np.eye(3)["xyz".index(axis.lower())], a.dtype)
            turn = cls.from_rotvec(a[..., i : i + 1] * direction, degrees)
            if total is None:
                total = turn
            else:
                total = total * turn if axis.isupper() else turn * total
        assert total is not None
        return total

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> Rotation:
        """Return the identity rotation, or `num` of them."""
        one = jnp.asarray([0, 0, 0, 1], dtype=dtype)
        return cls(one if num is None else jnp.tile(one, (num, 1)))

    @classmethod
    def random(cls, random_key: Any, num: int | None = None) -> Rotation:
        """Draw uniformly distributed random rotations."""
        return cls(_unit(random.normal(random_key, (4,) if num is None else (num, 4))))

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """Join several rotations into one object."""
        return cls(jnp.concatenate([r.quat.reshape(-1, 4) for r in rotations]))

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Array:
        """Return quaternions (..., 4); if `canonical`, the first nonzero of w, x, y, z is
        above 0.
        """
        quat = self.quat
        if canonical:
            x, y, z, w = (quat[..., i] for i in range(4))
            sign = jnp.sign(w)
            for part in (x, y, z):
                sign = jnp.where(jnp.equal(sign, 0), jnp.sign(part), sign)
            quat = quat * sign[..., None]
        return jnp.roll(quat, 1, -1) if scalar_first else quat

    def as_matrix(self) -> Array:
        """Return rotation matrices (..., 3, 3)."""
        columns = [self.apply(jnp.asarray(row, self.quat.dtype)) for row in np.eye(3)]
        return jnp.stack(columns, -1)

    def as_rotvec(self, degrees: bool = False) -> Array:
        """Return rotation vectors (..., 3): along the axis, as long as the angle, at most pi."""
        quat = self.quat * jnp.where(jnp.less(self.quat[..., 3:], 0), -1, 1)
        square = jnp.sum(jnp.square(quat[..., :3]), -1, keepdims=True)
        small = jnp.less(square, 1e-8)
        size = jnp.sqrt(jnp.where(small, 1, square))
        scale = jnp.where(small, 2 + square / 3, 2 * jnp.arctan2(size, quat[..., 3:]) / size)
        vector = quat[..., :3] * scale
        return jnp.rad2deg(vector) if degrees else vector

    def as_mrp(self) -> Array:
        """Return modified Rodrigues parameters (..., 3)."""
        quat = self.quat * jnp.where(jnp.less(self.quat[..., 3:], 0), -1, 1)
        return quat[..., :3] / (1 + quat[..., 3:])

    def as_euler(self, seq: str, degrees: bool = False) -> Array:
        """Return three angles (..., 3) around axes in turn: fixed ones ("xyz") or rotated ones
        ("XYZ"). In gimbal lock the last angle is 0.
        """
        if len(seq) != 3 or not (set(seq) <= set("xyz") or set(seq) <= set("XYZ")):
            raise ValueError(f"Rotation.as_euler: seq must be 3 of xyz or XYZ, got {seq!r}")
        _check_turns("Rotation.as_euler", seq)
        angles = _euler(self.quat, seq.lower(), fixed=seq.islower())
        return jnp.rad2deg(angles) if degrees else angles

    def apply(self, vectors: Any, inverse: bool = False) -> Array:
        """Rotate vectors (..., 3); by the inverse rotations if `inverse`."""
        v = _floats("Rotation.apply", vectors, 3)
        quat = self.inv().quat if inverse else self.quat
        u, w = quat[..., :3], quat[..., 3:]
        v, u = jnp.broadcast_arrays(v, u)
        twice = 2 * jnp.cross(u, v)
        return v + w * twice + jnp.cross(u, twice)

    def inv(self) -> Rotation:
        """Return the inverse rotations."""
        return Rotation(self.quat * jnp.asarray([-1, -1, -1, 1], self.quat.dtype))

    def magnitude(self) -> Array:
        """Return the angles of rotation, from 0 to pi."""
        size = jnp.linalg.norm(self.quat[..., :3], axis=-1)
        return 2 * jnp.arctan2(size, jnp.abs(self.quat[..., 3]))

    def mean(self, weights: Any = None) -> Rotation:
        """Return the mean rotation: the one of least mean squared distance from all.

        Raises:
            TypeError: it is a single rotation.
            ValueError: not a weight for each.
        """
        if self.single:
            raise TypeError(
                "Rotation.mean: expected several rotations, of quaternions of shape (n, 4); "
                "a single Rotation is its own mean"
            )
        number = self.quat.shape[0]
        count = jnp.ones(number) if weights is None else _floats("Rotation.mean: weights", weights)
        if count.shape != (number,):
            raise ValueError(
                f"Rotation.mean: weights must have shape ({number},), a number for each rotation; "
                f"got {count.shape}"
            )
        return Rotation(jnp.linalg.eigh((self.quat.T * count) @ self.quat)[1][:, -1])

    @property
    def single(self) -> bool:
        """True if it is one rotation."""
        return self.quat.ndim == 1

    def __mul__(self, other: Rotation) -> Rotation:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the rotation by `other`, and then by this one."""
        return Rotation(_unit(_product(*jnp.broadcast_arrays(self.quat, other.quat))))

    def __len__(self) -> int:
        """Return the number of rotations."""
        if self.single:
            raise TypeError("a single Rotation has no length")
        return self.quat.shape[0]

    def __getitem__(self, indexer: Any) -> Rotation:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return some of the rotations."""
        if self.single:
            raise TypeError("a single Rotation is not subscriptable")
        return Rotation(self.quat[indexer])


@library_methods
class Slerp(NamedTuple):
    """Spherical linear interpolation between rotations at given times."""

    times: Array
    timedelta: Array
    rotations: Rotation
    rotvecs: Array

    @classmethod
    def init(cls, times: Any, rotations: Rotation) -> Slerp:
        """Make an interpolator from ascending times (n,), and n rotations."""
        at = _floats("Slerp.init", times)
        quat = rotations.quat
        if at.ndim != 1 or quat.ndim != 2 or at.shape[0] != quat.shape[0] or at.shape[0] < 2:
            raise ValueError(
                f"Slerp.init: expected a rotation for each of at least two times, got shapes "
                f"{at.shape} and {quat.shape}"
            )
        steps = Rotation(quat[:-1]).inv() * Rotation(quat[1:])
        return cls(at, jnp.diff(at), Rotation(quat[:-1]), steps.as_rotvec())

    def __call__(self, times: Any) -> Rotation:
        """Return the rotations at times, a number or a vector."""
        at = _floats("Slerp", times)
        cell = jnp.clip(
            jnp.searchsorted(self.times, at, side="right") - 1, 0, self.rotvecs.shape[0] - 1
        )
        share = (at - self.times[cell]) / self.timedelta[cell]
        step = Rotation.from_rotvec(self.rotvecs[cell] * share[..., None])
        return Rotation(self.rotations.quat[cell]) * step


def _check_turns(what: str, seq: str) -> None:
    if any(first == second for first, second in itertools.pairwise(seq)):
        raise ValueError(f"{what}: axes that follow must differ, got {seq!r}")


def _euler(quat: Array, seq: str, fixed: bool) -> Array:
    """Return Euler angles of unit quaternions, after Bernardes and Viollet (2022): rotations around
    three axes are those around two of them and a plane, which half sums and differences of angles
    turn.
    """
    i, j, k = ("xyz".index(axis) for axis in (seq if fixed else seq[::-1]))
    proper = i == k
    k = 3 - i - j if proper else k
    sign = (i - j) * (j - k) * (k - i) // 2
    x, y, z, w = quat[..., i], quat[..., j], quat[..., k] * sign, quat[..., 3]
    a, b, c, d = (w, x, y, z) if proper else (w - y, x + z, y + w, z - x)
    middle = 2 * jnp.arctan2(jnp.hypot(c, d), jnp.hypot(a, b))
    near = 1e-7 if quat.dtype == np.float64 else 1e-3
    low, high = jnp.less_equal(jnp.abs(middle), near), jnp.less_equal(jnp.abs(middle - np.pi), near)
    locked = jnp.logical_or(low, high)
    total, difference = jnp.arctan2(b, a), jnp.arctan2(d, c)
    inner, outer = total - difference, (total + difference) * (1 if proper else sign)
    first, last = (inner, outer) if fixed else (outer, inner)
    alone = jnp.where(low, 2 * total, (-2 if fixed else 2) * difference)
    first = jnp.where(locked, alone * (1 if fixed or proper else sign), first)
    last = jnp.where(locked, 0, last)
    middle = middle if proper else middle - np.pi / 2
    angles = jnp.stack([first, middle, last], -1)
    angles = jnp.where(angles < -np.pi, angles + 2 * np.pi, angles)
    return jnp.where(angles > np.pi, angles - 2 * np.pi, angles)
