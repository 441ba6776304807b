"""The commands of `irax`: what they take and print, and what they import only when they run."""
