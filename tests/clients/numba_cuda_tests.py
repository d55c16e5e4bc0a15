"""numba_cuda_tests.py: pytest with what numba-cuda's tests ask of it and its wheel leaves out: a fixture that every test class uses, and modules that
have the names by which processes that they start find them."""

import importlib
import pathlib
import sys

import numba.cuda  # before pytest imports the tests, by whatever name
import pytest

ROOT = pathlib.Path(numba.cuda.__file__).parents[2]


class Module(pytest.Module):
    def _getobj(self):
        return importlib.import_module(".".join(self.path.relative_to(ROOT).with_suffix("").parts))


def pytest_pycollect_makemodule(module_path, parent):
    return Module.from_parent(parent, path=module_path)


@pytest.fixture
def initialize_from_pytest_config(request):
    request.instance._dump_failed_filechecks = False


if __name__ == "__main__":
    sys.exit(pytest.main(sys.argv[1:], plugins=[sys.modules[__name__]]))
