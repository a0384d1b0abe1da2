"""JSON APIs as channels: a person's mapping becomes a recipe, a recipe makes requests and reads their answers."""
