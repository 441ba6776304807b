"""irax's compiler: StableHLO modules in, StableHLO modules and artefacts out."""
