"""`headwater admin`: who may call the web role."""
