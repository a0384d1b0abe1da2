"""Methods of the client: a module for each resource."""
