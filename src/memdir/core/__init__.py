"""What a memory is: pure values and rules; no files, clock or network."""
