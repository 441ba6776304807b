"""The targets: what turns a lowered module into an artefact that a device runs."""
