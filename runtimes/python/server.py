"""Entry of sless's Python runtime; docs/runtimes.md has its contract with whoever starts it."""

import sys

from sless_runtime.main import main

# The folder of the runtime's own files is no place for the user's imports.
sys.path.pop(0)
# Sources and dependencies stay as they were built.
sys.dont_write_bytecode = True
main()
