"""Find where photographs were taken from, and where what they show is: bundle adjustment.

Each of some cameras sees some of many points. The places in the pictures have errors; unknown are
the turns and places of the cameras, and the places of the points: 100,000 numbers. The sum of the
squared errors is least where they are found, by the method of Levenberg and Marquardt. An error
depends on one camera and one point, so the Jacobian has nine elements in a row, of which nine
directional derivatives give all, however many cameras and points there are.

Points have no terms with each other, so they are eliminated from each linear system: what is left
has the size of the cameras.

After B. Triggs et al., Bundle Adjustment: A Modern Synthesis (2000).

    python examples/bundle_adjustment.py --picture bundle_adjustment.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
import scipy.spatial

import irax
import irax.numpy as jnp
import irax.sparse

FOCUS = 800.0
"""The focal length in pixels."""
NOISE = 0.5
"""The standard deviation of places in the pictures, in pixels."""


def turned(rotation, point):
    """Points turned about vectors, by angles that are the lengths of these (Rodrigues)."""
    square = (rotation**2).sum(-1, keepdims=True) + 1e-30
    angle = jnp.sqrt(square)
    across = jnp.cross(rotation, point)
    along = rotation * (rotation * point).sum(-1, keepdims=True)
    cosine, sine = jnp.cos(angle), jnp.sin(angle)
    return cosine * point + sine / angle * across + (1 - cosine) / square * along


def projected(camera, point):
    """The places of points in pictures, in pixels from the middle."""
    seen = turned(camera[..., :3], point) + camera[..., 3:]
    return FOCUS * seen[..., :2] / seen[..., 2:]


def errors(cameras, points, scene):
    """The differences between the places of points in pictures and those that were measured."""
    which_camera, which_point, places = scene
    return projected(cameras[which_camera], points[which_point]) - places


def make_scene(num_cameras, num_points, seed=0):
    """Cameras on a circle that look at a torus of points, and the places of points in pictures."""
    rng = np.random.default_rng(seed)
    around, across = rng.uniform(0, 2 * np.pi, (2, num_points))
    radius = 3 + np.cos(across)
    points = np.stack([radius * np.cos(around), radius * np.sin(around), np.sin(across)], 1)
    # In the frame of a camera, its own turn about the axis of the torus is undone first.
    angle = 2 * np.pi * np.arange(num_cameras) / num_cameras
    upright = np.array([[0, 1, 0], [0, 0, -1], [-1, 0, 0.0]])
    cameras = []
    for a in angle:
        spin = np.array([[np.cos(a), np.sin(a), 0], [-np.sin(a), np.cos(a), 0], [0, 0, 1]])
        rotation = scipy.spatial.transform.Rotation.from_matrix(upright @ spin)
        cameras.append([*rotation.as_rotvec(), 0, 0, 10])
    # Each point is seen by four cameras of those that are nearest to its side.
    nearest = np.round(around / (2 * np.pi) * num_cameras)[:, None]
    width = max(4, num_cameras // 8)
    apart = np.argsort(rng.random((num_points, width)), 1)[:, :4] - width // 2
    which_camera = ((nearest + apart) % num_cameras).astype(np.int32).ravel()
    which_point = np.repeat(np.arange(num_points, dtype=np.int32), 4)
    cameras = np.array(cameras)
    places = projected(cameras[which_camera], points[which_point])
    places = np.asarray(places) + NOISE * rng.normal(size=places.shape)
    return cameras, points, (which_camera, which_point, places)


class Problem:
    """The errors of a scene, and their Jacobian."""

    def __init__(self, scene):
        self.both = irax.sparse.value_and_jacobian(
            lambda cameras, points: errors(cameras, points, scene), argnums=(0, 1), format="scipy"
        )
        self.pattern = irax.sparse.sparsity(
            lambda cameras, points: errors(cameras, points, scene), argnums=(0, 1)
        )

    def solve(self, cameras, points, steps=30):
        """The method of Levenberg and Marquardt; the unknowns, and the sum of squares by steps."""
        damping, sums = 1e-3, []
        value, matrix = self.both(cameras, points)
        for _ in range(steps):
            value = np.asarray(value).ravel()
            sums.append(float(value @ value))
            if len(sums) > 1 and sums[-2] - sums[-1] < 1e-9 * sums[-1]:
                break
            while True:
                change = reduced_step(matrix, value, cameras.size, damping)
                new = cameras - change[: cameras.size].reshape(cameras.shape)
                other = points - change[cameras.size :].reshape(points.shape)
                after, its_matrix = self.both(new, other)
                if float((after**2).sum()) <= sums[-1] or damping > 1e8:
                    break
                damping *= 10
            cameras, points, value, matrix = new, other, after, its_matrix
            damping = max(damping / 10, 1e-9)
        return cameras, points, sums


def reduced_step(jacobian, value, num, damping):
    """The step that solves the damped normal equations; the first `num` unknowns are cameras."""
    of_cameras, of_points = jacobian[:, :num].tocsr(), jacobian[:, num:].tocsr()
    left = (of_cameras.T @ of_cameras).tocsr()
    left += scipy.sparse.diags_array(damping * left.diagonal() + 1e-9)
    mixed = (of_cameras.T @ of_points).tocsr()
    right, below = of_cameras.T @ value, of_points.T @ value
    inverse = inverse_blocks((of_points.T @ of_points).tocsr(), damping)
    carried = mixed @ inverse
    cameras = np.linalg.solve((left - carried @ mixed.T).toarray(), right - carried @ below)
    return np.concatenate([cameras, inverse @ (below - mixed.T @ cameras)])


def inverse_blocks(matrix, damping):
    """The inverse of a damped matrix of blocks of three on its diagonal."""
    count = matrix.shape[0] // 3
    blocks = np.zeros((count, 3, 3))
    entries = matrix.tocoo()
    blocks[entries.row // 3, entries.row % 3, entries.col % 3] = entries.data
    own = np.einsum("nii->ni", blocks)
    own += damping * own + 1e-9
    inverse = np.linalg.inv(blocks)
    rows = np.arange(count)
    return scipy.sparse.bsr_array((inverse, rows, np.arange(count + 1))).tocsr()


def away(points, truth):
    """The root of the mean square distance of points to the true ones, after the turn, the shift
    and the scale that bring them nearest: no picture tells these.
    """
    x, y = points - points.mean(0), truth - truth.mean(0)
    u, _, v = np.linalg.svd(x.T @ y)
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ v))]) @ v
    scale = np.trace(turn.T @ x.T @ y) / (x**2).sum()
    return float(np.sqrt(((scale * x @ turn - y) ** 2).sum(1).mean()))


def step_and_arguments():
    """The errors of a scene, and an example of their arguments."""
    cameras, points, scene = make_scene(8, 12)
    return errors, (
        cameras.astype("float32"),
        points.astype("float32"),
        (*scene[:2], scene[2].astype("float32")),
    )


def draw(file, scenes, sums):
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(10, 3.4), layout="constrained")
    for i, (title, cameras, points) in enumerate(scenes):
        axis = figure.add_subplot(1, 3, i + 1, projection="3d")
        axis.scatter(*points[::40].T, s=1, c=points[::40, 2], cmap="viridis")
        turns = scipy.spatial.transform.Rotation.from_rotvec(cameras[:, :3])
        axis.scatter(*turns.inv().apply(-cameras[:, 3:]).T, s=8, c="C3", marker="^")
        axis.set(title=title, xlim=(-8, 8), ylim=(-8, 8), zlim=(-5, 5))
    axis = figure.add_subplot(1, 3, 3)
    axis.semilogy(sums, "C0o-")
    axis.set(xlabel="step", title="sum of squares, pixels^2")
    figure.savefig(file, dpi=64)


def main(arguments=None):
    """Adjusts cameras and points, and prints how right they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    num_cameras, num_points = (16, 300) if options.small else (200, 33_000)
    with irax.enable_x64():
        cameras, points, scene = make_scene(num_cameras, num_points)
        rng = np.random.default_rng(1)
        start = (
            cameras + rng.normal(size=cameras.shape) * [0.02, 0.02, 0.02, 0.1, 0.1, 0.1],
            points + 0.1 * rng.normal(size=points.shape),
        )
        problem = Problem(scene)
        pattern = problem.pattern(*start)
        found = problem.solve(*start)
        # Of the sum of squares, each unknown takes one; seven numbers are in no picture.
        freedom = scene[2].size - cameras.size - points.size + 7
        figures = {
            "unknowns": float(cameras.size + points.size),
            "errors": float(scene[2].size),
            "colors": float(irax.sparse.color(pattern).num_colors),
            "steps": float(len(found[2]) - 1),
            "noise, estimated": float(np.sqrt(found[2][-1] / freedom)),
            "away at first": away(start[1], points),
            "away": away(found[1], points),
        }
    for name, number in figures.items():
        print(f"{name:24} {number:.6g}")
    if options.picture:
        draw(options.picture, [("at first", *start), ("found", *found[:2])], found[2])
    return figures


if __name__ == "__main__":
    main()
