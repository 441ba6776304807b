"""The programs of all families, by their names."""

from benchmarks.peers import (
    arrays,
    cumulative,
    images,
    indexed,
    products,
    sequences,
    simulations,
    training,
)

FAMILIES = {
    "cumulative": cumulative.RACES,
    "indexed": indexed.RACES,
    "arrays": arrays.RACES,
    "products": products.RACES,
    "images": images.RACES,
    "sequences": sequences.RACES,
    "training": training.RACES,
    "simulations": simulations.RACES,
}
RACES = {race.name: race for races in FAMILIES.values() for race in races}
