"""IREE's sessions: what an interruption leaves of them ends without a word."""

import pytest


@pytest.mark.parametrize("name", ["Session", "Invocation", "Source", "Output"])
def test_unfinished_objects_end_quietly(name):
    from iree.compiler import api

    from irax_compiler.iree import sessions

    sessions._set_options()
    of_class = getattr(api, name)
    of_class.__new__(of_class).close()
