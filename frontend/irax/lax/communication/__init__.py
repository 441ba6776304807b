"""Communication between lanes of a vmap and between devices of a mesh."""
