"""What an HTML page offers: articles it lists, where it goes on, channels it names."""
