"""Draw a scene of which nothing is known but how far away it is.

A function tells the distance from a point to the nearest surface. From the eye one may go that far
along a ray without hitting anything, and again, until the distance is nothing. The direction in
which the surface there faces is the gradient of the distance. The program draws one pixel; vmap
makes an image of it.

After J. C. Hart, Sphere Tracing: a Geometric Method for the Antialiased Ray Tracing of Implicit
Surfaces (1996).

    python examples/ray_marcher.py --picture ray_marcher.png
"""

from __future__ import annotations

import argparse
import importlib.util

import numpy as np

import irax
import irax.numpy as jnp

EYE = np.array([0.0, 1.6, -5.0], "float32")
LIGHT = np.array([0.5, 0.7, -0.5], "float32") / np.float32(0.99**0.5)
CENTRE, RADIUS = np.array([-1.3, 1.0, 0.3], "float32"), 1.0  # of the sphere
RING = np.array([1.2, 0.9, 0.0], "float32"), 0.65, 0.25  # centre and radii
FAR = 30.0


def norm(x):
    return jnp.sqrt(jnp.sum(x**2))


def sphere(point):
    return norm(point - CENTRE) - RADIUS


def ring(point):
    centre, large, small = RING
    x, y, z = point - centre
    return jnp.sqrt((jnp.sqrt(x**2 + y**2) - large) ** 2 + z**2) - small


def blob(point):
    """Three balls that flow into each other."""
    centres = np.array([[0, 0.35, -1.5], [0.5, 0.3, -1.7], [0.3, 0.6, -1.4]], "float32")
    apart = jnp.sqrt(jnp.sum((point - centres) ** 2, axis=1)) - np.float32(0.3)
    return -irax.nn.logsumexp(-16 * apart) / 16


def floor(point):
    return point[1]


COLOURS = np.array([[0.9, 0.3, 0.25], [0.95, 0.75, 0.3], [0.35, 0.6, 0.9], [0.8, 0.8, 0.8]], "f4")


def distances(point):
    """The distance to each of the things there are."""
    return jnp.stack([sphere(point), ring(point), blob(point), floor(point)])


def distance(point):
    return jnp.min(distances(point))


def march(origin, direction):
    """The distance along a ray to a surface, or FAR."""

    def on_the_way(state):
        gone, step, count = state
        return (step > 1e-4) & (gone < FAR) & (count < 200)

    def go(state):
        gone, _, count = state
        step = distance(origin + gone * direction)
        return gone + step, step, count + 1

    gone, _, _ = irax.lax.while_loop(on_the_way, go, (0.0, 1.0, 0))
    return jnp.minimum(gone, FAR)


def normal(point):
    """The direction in which the surface at a point faces."""
    slope = irax.grad(distance)(point)
    return slope / norm(slope)


def lit(point):
    """The share of the light that arrives: less where a ray to it comes close to things."""

    def go(_, state):
        gone, light = state
        free = distance(point + gone * LIGHT)
        return gone + jnp.clip(free, 0.02, 0.5), jnp.minimum(light, 10 * free / gone)

    _, light = irax.lax.fori_loop(0, 40, go, (jnp.float32(0.03), jnp.float32(1)))
    return jnp.clip(light, 0, 1)


def pixel(direction):
    """The distance that a ray goes, and the normal and colour of the surface that it hits."""
    gone = march(EYE, direction)
    point = EYE + gone * direction
    facing = normal(point)
    thing = jnp.argmin(distances(point))
    colour = jnp.asarray(COLOURS)[thing]
    squares = jnp.floor(point[0]) + jnp.floor(point[2])
    colour = jnp.where((thing == 3) & (squares % 2 == 0), 0.45 * colour, colour)
    direct = jnp.clip(facing @ LIGHT, 0, 1) * lit(point + 1e-3 * facing)
    colour = colour * (0.25 + 0.1 * facing[1] + 0.7 * direct)
    sky = jnp.array([0.65, 0.8, 0.95])
    haze = jnp.exp(-0.004 * gone**2)
    return gone, facing, jnp.where(gone < FAR, haze * colour + (1 - haze) * sky, sky)


render = irax.jit(irax.vmap(irax.vmap(pixel)))


def directions(width, height):
    """Unit vectors from the eye through all pixels."""
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    rays = np.stack([(x - width / 2) / height, (height / 2 - y) / height - 0.12, 0 * x + 1.1], -1)
    return (rays / np.linalg.norm(rays, axis=-1, keepdims=True)).astype("float32")


def step_and_arguments():
    """An image, and an example of its arguments."""
    return render, (directions(32, 24),)


def draw(file, image):
    import matplotlib.pyplot as plt

    plt.imsave(file, np.clip(image, 0, 1))


def main(arguments=None):
    """Draws, and prints how exact the sphere in it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--picture", metavar="FILE", help="draw the result (needs matplotlib)")
    options = parser.parse_args(arguments)
    if options.picture and not importlib.util.find_spec("matplotlib"):
        parser.error("--picture needs matplotlib: pip install matplotlib")

    rays = directions(*(32, 24) if options.small else (400, 300))
    gone, facing, image = render(rays)
    # A ray meets a sphere where a quadratic equation is solved.
    points = EYE + np.asarray(gone)[..., None] * rays
    ours = np.abs(np.linalg.norm(points - CENTRE, axis=-1) - RADIUS) < 1e-3
    middle = rays @ (CENTRE - EYE)
    exact = middle - np.sqrt(np.maximum(middle**2 - np.sum((CENTRE - EYE) ** 2) + RADIUS**2, 0))
    outwards = (points - CENTRE) / RADIUS
    figures = {
        "pixels of the sphere": int(ours.sum()),
        "error of distance": float(np.max(np.abs(gone - exact)[ours])),
        "error of normals": float(np.max(np.abs(facing - outwards)[ours])),
        "sky": float(np.mean(gone == FAR)),
        "mean brightness": float(np.mean(image)),
    }
    for name, value in figures.items():
        print(f"{name:24} {value:.6g}")
    if options.picture:
        draw(options.picture, np.asarray(image))
    return figures


if __name__ == "__main__":
    main()
