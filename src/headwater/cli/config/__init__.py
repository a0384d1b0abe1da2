"""`headwater config`: the commands of the settings."""
