"""The server of sless's Python runtime: standard library only, Python 3.8 and newer."""
