"""The structure of a document: its blocks, their text, their Markdown, and how they are stored. Pure."""
