"""Meshes, partition specs, shardings, and the types of arrays that devices have parts of."""
