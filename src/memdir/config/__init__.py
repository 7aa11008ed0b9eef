"""Settings, scopes and environment in, a Config out."""
