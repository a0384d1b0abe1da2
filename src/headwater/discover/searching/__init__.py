"""Looking for the channels of a site, in the background or for a person."""
