"""The page of `memdir ui`: what memory holds, on loopback, for as long as the command runs."""
