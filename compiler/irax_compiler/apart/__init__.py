"""Constants of functions that are set apart from them: programs take them as arguments."""
