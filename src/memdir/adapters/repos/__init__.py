"""Where memories' claims are looked up: a git checkout, lists of its content, or nothing."""
