"""Programs of a mesh of devices: partitioning, collectives, resharding."""
