"""A platform: devices that a PJRT plugin serves, and the package that has the plugin."""

from irax_runtime.platforms import PjrtPlatform, register

register(PjrtPlatform(name="pjrt:abacus", plugin="abacus", package="abacus-pjrt"))
