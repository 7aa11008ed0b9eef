"""What people ask an agent to remember or to forget, found without a model."""
