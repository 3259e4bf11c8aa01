"""python -m mcpcheck"""

from mcpcheck.cli import main

if __name__ == "__main__":
    main()
