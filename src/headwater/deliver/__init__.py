"""How documents and vacancies leave: the log of changes, sinks that follow it, exports."""
