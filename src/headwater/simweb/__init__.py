"""The simulated web: thousands of sites in one process, for the demo, the tests and the benchmarks."""
