"""`headwater demo`: the tour, its simulated world, and its processes."""
