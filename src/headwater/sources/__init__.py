"""Who we follow."""
