"""It makes parameters of a mark, and has a mistake for one of them."""


def pytest_generate_tests(metafunc):
    mark = metafunc.get_closest_marker("rows")
    if mark is not None:
        metafunc.parametrize("rows", [1 // count * 64 for count in mark.args])
