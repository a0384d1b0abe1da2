"""The structure of a page: its elements as blocks, in the order and by the lines of the text that was chosen."""
