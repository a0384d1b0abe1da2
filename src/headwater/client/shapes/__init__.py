"""Values that the API takes and gives, as types for type checkers: a module for each resource."""
