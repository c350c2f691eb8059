"""The data folder keeps secrets to its owner, and serves one console at a time."""

import os
import socket

import pytest

from attribution.launch import ports, valkey
from attribution.launch.__main__ import main as launch
from attribution.launch.folder import DataFolder, DataFolderError


@pytest.fixture
def folder(tmp_path):
    folder = DataFolder(tmp_path / "deep" / "data")
    folder.make()
    yield folder
    folder.release()


def test_only_the_owner_can_read_it(folder):
    assert folder.password
    assert folder.secret_key
    assert folder.path.stat().st_mode & 0o777 == 0o700
    for name in ("password", "secret_key"):
        assert (folder.path / name).stat().st_mode & 0o777 == 0o600


def test_the_password_and_the_key_stay_the_same_from_start_to_start(folder):
    again = DataFolder(folder.path)
    again.make()
    assert (again.password, again.secret_key) == (folder.password, folder.secret_key)
    assert len(folder.secret_key) >= 50


def test_two_installations_have_different_passwords(folder, tmp_path):
    other = DataFolder(tmp_path / "other")
    other.make()
    assert other.password != folder.password


def test_a_second_console_on_the_same_folder_is_told_where_the_first_one_runs(folder):
    folder.take("http://127.0.0.1:8123")
    with pytest.raises(DataFolderError, match=r"Already running .* at http://127\.0\.0\.1:8123"):
        DataFolder(folder.path).take("http://127.0.0.1:8124")


def test_a_folder_that_cannot_be_made_says_what_to_do(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFolderError, match="Name another one in FIRST_FAULT_DATA"):
        DataFolder(tmp_path / "file" / "data").make()


def test_a_taken_port_means_the_next_free_one():
    with socket.socket() as taken:
        taken.bind((ports.LOCAL, 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not ports.is_free(port)
        assert ports.first_free(port) > port


def test_no_free_port_is_an_error_that_names_the_option():
    with socket.socket() as taken:
        taken.bind((ports.LOCAL, 0))
        taken.listen()
        with pytest.raises(RuntimeError, match="--port"):
            ports.first_free(taken.getsockname()[1], tries=1)


@pytest.mark.parametrize("text", ["99999", "65536", "0", "-1", "80a", "", "8000.5", "\N{ARABIC-INDIC DIGIT FIVE}"])
def test_what_is_no_port_number_is_told_so_before_anything_starts(text, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("FIRST_FAULT_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("attribution.launch.__main__._heed_signals", lambda supervisor: None)
    assert launch(["--port=" + text]) == 1
    assert capsys.readouterr().out == f"“{text}” is not a port number; give one from 1 to 65535: make run PORT=8000\n"
    assert not (tmp_path / "data").exists()


def test_the_ports_that_were_tried_are_named():
    with socket.socket() as taken:
        taken.bind((ports.LOCAL, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(RuntimeError, match=rf"port {port} is taken"):
            ports.first_free(port, tries=1)


def test_a_deep_data_folder_still_gets_a_socket_that_the_kernel_takes(tmp_path):
    near, deep = tmp_path / "d", tmp_path / ("d" * 120)
    assert valkey.socket_in(near).parent == near
    path = valkey.socket_in(deep)
    assert len(os.fsencode(path)) < valkey.LONGEST_SOCKET_PATH
    path.parent.rmdir()
