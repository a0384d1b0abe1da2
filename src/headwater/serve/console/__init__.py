"""The web console: pages for people who run Headwater. Each is made on the server, and works without a script."""
