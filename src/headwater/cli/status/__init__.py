"""`headwater status`: the state of things, and its figures for operators."""
