"""Hardware of vendors, as plugins need it described: topologies, and where libraries are."""
