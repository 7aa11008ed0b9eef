"""The file a client runs: `python -I -S start.py EVENT`, and we: `start.py worker DIRECTORY`."""

import gc
import sys


def use_light_os() -> None:
    """`os` without its Python classes, which take 1 ms; any other name loads the real module."""
    import posix

    def load_os(name: str) -> object:
        if sys.modules.get("os") is light:
            del sys.modules["os"]
        import os

        return getattr(os, name)

    light = sys.modules["os"] = type(sys)("os")
    environ = {}
    for name, value in posix.environ.items():
        environ[name.decode("utf-8", "surrogateescape")] = value.decode("utf-8", "surrogateescape")
    light.__dict__.update(posix.__dict__, environ=environ, __getattr__=load_os)
    import posixpath  # uses our stand-in for `os`

    light.__dict__["path"] = posixpath


if __name__ == "__main__":
    gc.disable()  # the process ends before collecting garbage would pay
    try:
        if "os" not in sys.modules and sys.argv[1:2] != ["worker"]:
            use_light_os()
        import os

        root = os.path.realpath(__file__).rsplit("/", 3)[0]
        # The remaining imports are C modules, found at the end of the path.
        sys.path[:] = [sys.path[-1], root, *sys.path[:-1]]
        from memdir.hot.run import main

        main(sys.argv[1:])
    except BaseException:  # a broken hook must not break the session: exit code 2 would block it
        pass
    os._exit(0)  # everything is closed; normal interpreter shutdown would cost 1 ms
