"""dm-pix: changes and losses of images, and the gradient of one."""

import dm_pix as pix
import jax


def run():
    image, other = jax.random.uniform(jax.random.key(0), (2, 16, 16, 3))
    key = jax.random.key(1)
    patch = (1, 4, 4, 1)
    found = {
        "blur": pix.gaussian_blur(image, 1.0, 5),
        "contrast": pix.adjust_contrast(image, 1.3),
        "hue": pix.adjust_hue(image, 0.1),
        "saturation": pix.adjust_saturation(image, 0.5),
        "flip": pix.flip_left_right(image),
        "rotation": pix.rotate(image, 0.4, order=1, mode="constant"),
        "crop": pix.random_crop(key, image, (8, 8, 3)),
        "deformation": pix.elastic_deformation(key, image, 2.0, 1.0, order=1, mode="constant"),
        "patches": pix.extract_patches(image[None], patch, patch, (1, 1, 1, 1)),
        "losses": (pix.ssim(image, other), pix.psnr(image, other)),
        "gradient": jax.grad(lambda x: pix.ssim(x, other))(image),
    }
    return jax.tree.map(lambda x: x.reshape(-1)[::29], found)
