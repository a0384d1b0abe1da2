"""Who we follow: sources and their channels, how they are stored, and the trail of what was done to them."""
