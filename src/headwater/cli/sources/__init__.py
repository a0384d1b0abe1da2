"""`headwater sources`: one file for each thing that can be done with sources."""
