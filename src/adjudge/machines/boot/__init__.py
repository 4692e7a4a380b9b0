"""The small program between the judge and untrusted code: it builds one sandbox, runs commands in it, takes it down.

It runs as `python -I -S boot/__main__.py` with an empty environment and imports nothing but this folder and the standard
library. Standard input is a control socket: first comes the order (see `order.Order`), then commands; an answer goes back
for each. It stays outside of the sandbox, single-threaded, and forks for every command, so that no command waits for an
interpreter to start and every exit status comes from `wait`. When the judge ends, however it ends, it takes everything
with it.

The order of the system calls in these files is what the sandbox is worth. Each comment says what would happen otherwise.
"""
