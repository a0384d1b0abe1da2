"""`headwater docs`: the commands of the archive."""
