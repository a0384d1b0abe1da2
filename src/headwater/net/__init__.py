"""How a request reaches the web and what comes back: addresses, bodies, redirects, caching headers, charsets."""
