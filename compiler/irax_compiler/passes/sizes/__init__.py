"""Programs with symbolic dimensions: refinement, and the lowering to unknown sizes."""
