"""The archive for agents, over the Model Context Protocol. They read what is stored and queue URLs; nothing they can
call makes a request to the web. `server.py` puts it together.
"""
