"""`headwater sinks`: the commands of delivery."""
