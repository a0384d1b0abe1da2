"""When to poll a channel next: what was learned of it, what a poll may cost, and who must be obeyed. All pure."""
