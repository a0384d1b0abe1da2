"""One channel from lease to next poll; `poll` is the function to read first."""
