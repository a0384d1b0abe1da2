"""Who may call the web role: users, tokens, sessions, how logins are slowed down, and the log of all they changed."""
