"""The only way to the web: takedown, robots, slot, guard, request, body, for every hop."""
