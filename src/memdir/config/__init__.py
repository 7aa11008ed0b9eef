"""Settings and environment become a Config."""
