"""The core of the frontend: arrays, tracing, promotion, pytrees, locations."""
