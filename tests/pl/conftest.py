import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    pyplot.close("all")
