"""URLs as values: one parser, one canonical key, one hash; scope, skips and traps. Nothing here touches anything."""
