"""What others get: team copies and the git merge driver."""
