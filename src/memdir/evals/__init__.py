"""Quality of memory, on your own store and on public test sets."""
