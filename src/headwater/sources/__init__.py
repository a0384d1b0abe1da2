"""The publishers we follow: sources and their channels, how they are stored, and the trail of their changes."""
