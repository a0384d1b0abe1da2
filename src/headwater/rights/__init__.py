"""Publishers' statements about the use of their pages, and the one answer they make together. Pure."""
