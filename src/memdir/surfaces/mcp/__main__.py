"""`python -m memdir.surfaces.mcp`, as settings of version 0.1.0 say; now `python -m memdir.mcp`."""

from memdir.mcp.stdio import main

if __name__ == "__main__":
    main()
