"""Where earlier versions are kept."""
