"""The ground floor: all a hook may import; C modules of the standard library only."""
