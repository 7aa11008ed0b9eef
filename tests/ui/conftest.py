import pytest

from tests.helpers.served import Page


@pytest.fixture
def page(store):
    """The page of a store with three memories."""
    from memdir.library import Memdir

    memory = Memdir.open()
    memory.save("Use uv, never pip, as the package manager.", type="feedback", name="use-uv")
    memory.save("Releases are cut on Thursday from main.", type="project", name="cut-release")
    memory.save("Ada prefers the command first.", type="user", name="short-answers")
    with Page() as page:
        yield page.enter()
