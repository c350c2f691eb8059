"""Secrets are taken out; what diagnosis needs stays."""

import time

import pytest

from telemetry.redaction import Redactor


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("mail a.b@uni-x.edu, or c@site.org.", "mail [redacted:email], or [redacted:email]."),
        ("HF_TOKEN=hf_abcdefghijklmnopqrstuvwx1", "HF_TOKEN=[redacted:huggingface-token]"),
        ("export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567", "export WANDB_API_KEY=[redacted:secret]"),
        ("key AKIAABCDEFGHIJKLMNOP used", "key [redacted:aws-key] used"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "aws_secret_access_key = [redacted:secret]"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted:github-token]"),
        ("glpat-abcdefghij0123456789", "[redacted:gitlab-token]"),
        ("xoxb-123456789012-abcdef", "[redacted:slack-token]"),
        ("using sk-proj-abcdefghijklmnopqrstuv", "using [redacted:api-key]"),
        ("Authorization: Bearer abcdef0123456789xyz==", "Authorization: Bearer [redacted:bearer]"),
        ("jwt eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4", "jwt [redacted:jwt]"),
        ("clone https://bob:pw@git.x/y", "clone https://[redacted:url-credentials]@git.x/y"),
        ("redis://:s3cret@h:6379/0", "redis://[redacted:url-credentials]@h:6379/0"),
        ("mysql --password hunter22 -u x", "mysql --password [redacted:password] -u x"),
        ("+ mysql -u root -pS3cretPw db", "+ mysql -u root -p[redacted:password] db"),
        ("AZURE_STORAGE_KEY=Zm9vYmFyYmF6cXV4MTIzNDU2==", "AZURE_STORAGE_KEY=[redacted:secret]"),
        ("password=hunter", "password=[redacted:password]"),
        ('{"token": "abc123def456"}', '{"token": "[redacted:secret]"}'),
        ("caf\xe9 password=hunter22", "caf\xe9 password=[redacted:password]"),
    ],
)
def test_secrets_are_replaced_by_their_kind(line: str, wanted: str) -> None:
    assert Redactor().redact(line.encode("latin-1")).decode("latin-1") == wanted
    assert Redactor().redact_lines(line.encode("latin-1")).decode("latin-1") == wanted


@pytest.mark.parametrize(
    "line",
    [
        "node03:3468:3905 [4] NCCL WARN NET/IB : Got completion from peer 10.0.0.5<43211> with status=12",
        "NVRM: Xid (PCI:0000:5d:00): 79, pid=1234, name=python, GPU has fallen off the bus.",
        "mlx5_0: Port GUID 0x506b4b0300c2a1d0 MAC 0c:42:a1:5b:7e:10 LID 0x1f",
        "commit 4f9ac0d3b2a1908f7e6d5c4b3a29181706f5e4d3",
        "ssh user@node01 nvidia-smi",
        "ssh root@node01.cluster.local nvidia-smi",
        "systemd[1]: Started user@1000.service - User Manager for UID 1000.",
        "Lustre: MGC10.0.0.1@o2ib: Connection to MGS (at 10.0.0.1@o2ib) was lost",
        "git@github.com:org/repo.git",
        "max_new_tokens=1234567 eos_token=SPECIAL_END pad_token_id: 50256",
        "huggingface: Invalid token: unauthorized",
        "tokens/s: 123456.7  token=123456",
        "PWD=/home/user1/runs",
        "sshd[1]: Accepted publickey for root from 10.0.0.1 port 4 ssh2: ED25519 SHA256:ENIMuIYZmL0S7fOaXLsez",
        "wait timeout after 300000ms, keys: /default_pg/0//cuda//0",
        "store key=default_pg/0//cuda//timeout_dump",
        'MountVolume.SetUp failed for volume "creds" : secret "hf-token-secret" not found',
        "tcp://10.0.0.1:29500 rendezvous",
        "mysqld: ready for connections, -port 3306",
        "@torch.compile def f(x): return x@w.T",
    ],
)
def test_what_diagnosis_needs_stays(line: str) -> None:
    assert Redactor().redact(line.encode()).decode() == line


def test_a_private_key_goes_and_line_numbers_stay() -> None:
    redactor = Redactor()
    text = b"a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabcd==\n-----END RSA PRIVATE KEY-----\nafter\n"
    assert redactor.redact_lines(text) == b"a\n[redacted:private-key]\n\n\n\nafter\n"
    assert redactor.counts == {"private-key": 1}


def test_a_key_that_spans_two_pieces_is_still_a_key() -> None:
    redactor = Redactor()
    assert redactor.redact_lines(b"-----BEGIN PRIVATE KEY-----\nMIIEpAIB\n") == b"[redacted:private-key]\n\n"
    assert redactor.redact_lines(b"AAKCAQEA\n-----END PRIVATE KEY-----\nlog\n") == b"\n\nlog\n"


def test_a_cut_key_does_not_swallow_the_log() -> None:
    lines = b"-----BEGIN PRIVATE KEY-----\nMIIEpAIB\n[rank3]: Traceback (most recent call last):\nValueError\n"
    assert Redactor().redact_lines(lines) == (
        b"[redacted:private-key]\n\n[rank3]: Traceback (most recent call last):\nValueError\n"
    )


def test_kinds_are_counted() -> None:
    redactor = Redactor()
    redactor.redact_lines(b"a@b.org c@d.org\npassword=hunter22\nnothing\n")
    assert redactor.counts == {"email": 2, "password": 1}


def test_redaction_can_be_switched_off() -> None:
    assert Redactor(enabled=False).redact(b"password=hunter22") == b"password=hunter22"


def test_redacting_twice_changes_nothing() -> None:
    once = Redactor().redact_lines(b"token=abc123def a@b.org https://u:p@h/x Bearer abcdef0123456789xyz\n")
    again = Redactor()
    assert again.redact_lines(once) == once
    assert not again.counts


def test_hostile_lines_take_linear_time() -> None:
    start = time.perf_counter()
    for piece in (b"a@", b"a.", b"password=", b"://a:", b"eyJ.", b"-----BEGIN ", b"token: ", b"@a.b"):
        Redactor().redact_lines(piece * 40_000 + b"\n")
    assert time.perf_counter() - start < 20
