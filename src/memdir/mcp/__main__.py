"""`python -m memdir.mcp`: the server without the command line's packages."""

from memdir.mcp.stdio import main

if __name__ == "__main__":
    main()
