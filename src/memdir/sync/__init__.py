"""Several machines and a team: one engine, over git or over a memory server."""
