"""How good memory is, on your own store and on public sets."""
