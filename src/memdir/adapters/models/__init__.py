"""Who answers a prompt: one file per member, each with `open_model(name, base_url, environ)`."""
