"""Hosts with one peculiarity each, under names that never change, so that tests and the demo can ask for them."""
