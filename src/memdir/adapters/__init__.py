"""What can be swapped: one file per member; members do not know each other."""
