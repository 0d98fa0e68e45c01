"""Flags outrank the environment, which outranks the file, which outranks the defaults."""

from __future__ import annotations

import dataclasses

import pytest

from commonplace import settings
from commonplace.errors import BadSettings
from commonplace.settings import CONFIG_VARIABLE, TABLE, Settings, load


@pytest.fixture
def file(tmp_path):
    """Writes a settings file and returns the environment that names it."""

    def write(text):
        path = tmp_path / "config.toml"
        path.write_text(text, encoding="utf-8")
        return {CONFIG_VARIABLE: str(path)}

    return write


def test_settings_have_the_defaults_of_the_table(file):
    assert load({}, file("")) == Settings(**{each.name: each.default for each in TABLE})


def test_settings_table_and_dataclass_have_the_same_names():
    assert [s.name for s in TABLE] == [f.name for f in dataclasses.fields(Settings)]


def test_settings_removed_from_the_table_are_ignored_with_a_warning(file, caplog):
    assert load({}, file('names = "spacy"\n')) == load({}, file(""))
    assert "the setting 'names' was removed and is ignored. Delete the line." in caplog.text
    variable = {**file(""), "COMMONPLACE_NAMES": "spacy"}
    assert load({}, variable) == load({}, file(""))
    assert "COMMONPLACE_NAMES: the setting 'names' was removed" in caplog.text


def test_settings_precedence_is_flag_environment_file(file):
    environment = file('user = "file"\n')
    assert load({}, environment).user == "file"
    environment["COMMONPLACE_USER"] = "environment"
    assert load({}, environment).user == "environment"
    assert load({"user": "flag"}, environment).user == "flag"
    assert load({"user": None}, environment).user == "environment"


def test_settings_default_file_is_in_the_config_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv(CONFIG_VARIABLE, raising=False)
    assert load({}).pool_size == 10
    (tmp_path / "commonplace").mkdir()
    (tmp_path / "commonplace" / "config.toml").write_text("pool_size = 3\n", encoding="utf-8")
    assert load({}).pool_size == 3


def test_settings_default_store_is_in_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "new"))
    assert settings.default_store() == str(tmp_path / "new" / "commonplace" / "memory.db")
    assert (tmp_path / "new" / "commonplace").is_dir()


@pytest.mark.parametrize(("written", "meant"), [("yes", True), ("0", False), ("FALSE", False)])
def test_settings_read_yes_and_no_words(file, written, meant):
    assert load({}, {**file(""), "COMMONPLACE_TIDY_ON_OPEN": written}).tidy_on_open is meant


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cache_mb", "much"),
        ("cache_mb", "-1"),
        ("pool_size", "0"),
        ("lock_timeout", "soon"),
        ("lock_timeout", "nan"),
        ("tidy_on_open", "maybe"),
    ],
)
def test_settings_error_names_the_setting_and_its_origin(file, name, value):
    variable = f"COMMONPLACE_{name.upper()}"
    with pytest.raises(BadSettings, match=rf"{name} \({variable}\)") as caught:
        load({}, {**file(""), variable: value})
    assert caught.value.field == name
    with pytest.raises(BadSettings, match=rf"{name} \(given\)"):
        load({name: value}, file(""))
    with pytest.raises(BadSettings, match=rf"{name} \(the settings file\)"):
        load({}, file(f'{name} = "{value}"\n'))


def test_settings_refuse_unknown_names(file):
    with pytest.raises(BadSettings, match="colour"):
        load({"colour": "red"}, file(""))
    with pytest.raises(BadSettings, match="colour"):
        load({}, file('colour = "red"\n'))


def test_settings_file_error_names_the_file(file, tmp_path):
    with pytest.raises(BadSettings, match=r"missing\.toml"):
        load({}, {CONFIG_VARIABLE: str(tmp_path / "missing.toml")})
    with pytest.raises(BadSettings, match=tmp_path.name):
        load({}, {CONFIG_VARIABLE: str(tmp_path)})
    with pytest.raises(BadSettings, match="not valid TOML"):
        load({}, file("user = \n"))
