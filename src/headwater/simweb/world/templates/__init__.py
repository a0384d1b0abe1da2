"""How the pages of the simulated web look: one module per family of layouts."""
