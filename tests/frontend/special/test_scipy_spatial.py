"""irax.scipy.spatial.transform against SciPy's."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Theirs
from scipy.spatial.transform import Slerp as TheirSlerp

import irax
from irax.scipy.spatial.transform import Rotation, Slerp

THEIRS = Theirs.random(6, random_state=0)
OURS = Rotation(irax.numpy.asarray(THEIRS.as_quat().astype(np.float32)))
POINT = np.array([1.0, -2.0, 0.5], np.float32)


def same(ours, theirs, tolerance=2e-6) -> None:
    np.testing.assert_allclose(ours.as_matrix(), theirs.as_matrix(), atol=tolerance)


def test_forms() -> None:
    np.testing.assert_allclose(OURS.as_matrix(), THEIRS.as_matrix(), atol=1e-6)
    np.testing.assert_allclose(OURS.as_rotvec(True), THEIRS.as_rotvec(True), atol=2e-4)
    np.testing.assert_allclose(OURS.as_mrp(), THEIRS.as_mrp(), atol=1e-6)
    np.testing.assert_allclose(OURS.as_quat(True), THEIRS.as_quat(canonical=True), atol=1e-6)
    np.testing.assert_allclose(OURS.magnitude(), THEIRS.magnitude(), atol=1e-6)
    for form in ("quat", "matrix", "rotvec", "mrp"):
        values = getattr(THEIRS, f"as_{form}")().astype(np.float32)
        same(getattr(Rotation, f"from_{form}")(values), THEIRS)
    angles = np.random.default_rng(0).uniform(-170, 170, (5, 3)).astype(np.float32)
    for seq in ("xyz", "ZYX", "zxz", "y"):
        a = angles[:, : len(seq)]
        same(Rotation.from_euler(seq, a, True), Theirs.from_euler(seq, a, True))


def test_what_rotations_do() -> None:
    np.testing.assert_allclose(OURS.apply(POINT), THEIRS.apply(POINT), atol=1e-5)
    np.testing.assert_allclose(OURS.apply(POINT, True), THEIRS.apply(POINT, True), atol=1e-5)
    same(OURS[:3] * OURS[3:], THEIRS[:3] * THEIRS[3:])
    same(OURS.inv(), THEIRS.inv())
    same(OURS.mean(), THEIRS.mean())
    same(Rotation.concatenate([OURS[0], OURS[1:]]), THEIRS)
    same(Rotation.identity(2), Theirs.identity(2))
    assert len(OURS) == 6
    random = Rotation.random(irax.random.key(0), 4).as_matrix()
    np.testing.assert_allclose(
        random @ random.swapaxes(1, 2), np.tile(np.eye(3), (4, 1, 1)), atol=1e-5
    )


def test_between_rotations() -> None:
    times, at = np.array([0.0, 1, 3, 4, 6, 7], "f4"), np.array([0.0, 0.5, 2.5, 7], "f4")
    same(Slerp.init(times, OURS)(at), TheirSlerp(times, THEIRS)(at))
    slope = irax.grad(lambda v: Rotation.from_rotvec(v).apply(POINT)[1])(np.zeros(3, "f4"))
    np.testing.assert_allclose(slope, [-0.5, 0, 1], atol=1e-6)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match=r"expected shape \(..., 4\)"):
        Rotation.from_quat(POINT)
    with pytest.raises(TypeError, match="expected several rotations"):
        OURS[0].mean()
    with pytest.raises(ValueError, match="seq must be"):
        Rotation.from_euler("xY", POINT)
    with pytest.raises(ValueError, match="3 of xyz"):
        OURS.as_euler("xy")
    with pytest.raises(ValueError, match="must differ"):
        OURS.as_euler("xxz")


@pytest.mark.parametrize(
    "seq", ["xyz", "zyx", "xzy", "zxz", "yxy", "XYZ", "ZYX", "YZX", "ZXZ", "XYX"]
)
def test_angles(seq: str) -> None:
    np.testing.assert_allclose(OURS.as_euler(seq), THEIRS.as_euler(seq), atol=1e-4)
    back = Rotation.from_euler(seq, OURS.as_euler(seq, degrees=True), degrees=True)
    same(back, THEIRS)
    middles = (0.0, np.pi) if seq[0] == seq[2] else (np.pi / 2, -np.pi / 2)
    for middle in middles:  # two of the axes are one
        locked = Theirs.from_euler(seq, [0.3, middle, 0.4])
        found = Rotation.from_quat(locked.as_quat().astype("f4")).as_euler(seq)
        assert abs(found[2]) < 1e-3
        same(Rotation.from_euler(seq, found), locked, 2e-3)
