"""A small project in a real folder, and what a code graph would know of it."""

import pytest
from known_code import Code

CONFIG = '''
import json


def parse_config(path):
    """Reads it."""
    data = json.load(open(path))
    return {key: data[key] for key in KNOWN if key in data}


def write_config(path, data):
    json.dump(data, open(path, "w"))


class Config:
    def load(self):
        return parse_config(self.path)
'''


@pytest.fixture
def root(tmp_path):
    (tmp_path / "src" / "app").mkdir(parents=True)
    (tmp_path / "src" / "app" / "config.py").write_text(CONFIG)
    (tmp_path / "config.py").write_text("def other(): pass\n")
    (tmp_path / "README.md").write_text("# App\n")
    return tmp_path


@pytest.fixture
def code(root):
    return Code(root)
