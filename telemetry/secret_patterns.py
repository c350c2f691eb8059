"""What secrets look like in logs: shapes that the issuers document; the rest is told by the name before it."""

# ruff: noqa: E501, S105, SIM905 - one secret a line reads best; the names below are not passwords

from __future__ import annotations

from dataclasses import dataclass

# Written with a value that may be secret behind it: password=..., "api_key": "...", --token ...
_PASSWORD = r"passw(?:or)?d|passphrase|pwd"
_NAMED = (
    r"secret|secret[_-]?(?:access[_-]?)?key|token|api[_-]?key|apikey|access[_-]?key|auth[_-]?key|private[_-]?key|"
    r"client[_-]?secret|credentials?|(?:storage|account|shared)[_-]?key"
)
_SET = r"[\"']?\s{0,2}(?:=|:\s?[\"']|:\s)\s{0,2}[\"']?"
_VALUE = r"([^\s\"',;&)}\]\[({<>]{6,512})"
_SHORT = r"([^\s\"',;&)}\]\[({<>]{4,512})"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?"


@dataclass(frozen=True, slots=True)
class Secret:
    """A kind of secret. pattern: RE2 with one group, which is what gets replaced. sign: RE2 without groups that every
    line with such a secret matches; all signs together find the lines that are worth a look."""

    kind: str
    pattern: str
    sign: str


SECRETS = (
    Secret("url-credentials", r"[a-zA-Z][a-zA-Z0-9+.-]{1,30}://([^\s/:@'\"]{0,100}:[^\s/@'\"]{1,200})@", r"://[^\s/@]{1,300}@"),
    Secret("bearer", r"(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/-]{16,}=*)", r"(?:[Bb]earer|BEARER|[Bb]asic|BASIC)\s+[A-Za-z0-9._~+/-]{16}"),
    Secret("jwt", r"\b(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})", r"eyJ[A-Za-z0-9_-]{8}"),
    Secret("aws-key", r"\b((?:AKIA|ASIA|AGPA|AROA|AIDA|ANPA)[A-Z0-9]{16})\b", r"A(?:KI|SI|GP|RO|ID|NP)A[A-Z0-9]{16}"),
    Secret("github-token", r"\b(gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})", r"gh[pousr]_[A-Za-z0-9]{20}|github_pat_"),
    Secret("gitlab-token", r"\b(gl(?:pat|dt|rt|ft|cbt|oas|ptt)-[A-Za-z0-9_.-]{16,255})", r"gl(?:pat|dt|rt|ft|cbt|oas|ptt)-"),
    Secret("huggingface-token", r"\b((?:hf|api_org)_[A-Za-z0-9]{20,255})\b", r"(?:hf|api_org)_[A-Za-z0-9]{20}"),
    Secret("slack-token", r"\b(xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-[0-9]-[A-Za-z0-9-]{10,255})", r"xox[abeoprs]-|xapp-"),
    Secret("slack-webhook", r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{10,200})", r"hooks\.slack\.com/"),
    Secret("api-key", r"\b(sk-(?:proj-|ant-|or-|svcacct-|admin-|lf-)?[A-Za-z0-9_-]{20,255})", r"sk-[A-Za-z0-9_-]{20}"),
    Secret("google-key", r"\b(AIza[A-Za-z0-9_-]{35})", r"AIza[A-Za-z0-9_-]{35}"),
    Secret("nvidia-key", r"\b(nvapi-[A-Za-z0-9_-]{20,255})", r"nvapi-"),
    Secret("password", r"(?i)(?:\b|_|-)(?:" + _PASSWORD + r")" + _SET + _SHORT, r"(?i:" + _PASSWORD + r")" + _SET),
    Secret("secret", r"(?i)(?:\b|_|-)(?:" + _NAMED + r")" + _SET + _VALUE, r"(?i:" + _NAMED + r")" + _SET),
    Secret("password", r"\b(?:mysql|mysqldump|mariadb|mysqladmin)\s(?:[^\n]{0,200}?\s)?-p([^\s\"'-][^\s\"']{3,200})", r"(?:mysql|maria)[a-z]{0,10}\s"),
    Secret("password", r"(?i)--(?:password|passwd|passphrase)\s+([^\s\"'-][^\s\"']{5,512})", r"--pass"),
    Secret("secret", r"(?i)--[a-z-]{0,20}(?:token|api-key|secret|secret-key)\s+([^\s\"'-][^\s\"']{5,512})", r"--[a-z-]{0,20}(?:token|key|secret)\s"),
    Secret(
        "email",
        r"(?:^|[^A-Za-z0-9._%+@/:-])([A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:" + _LABEL + r"\.)+[A-Za-z]{2,24})"
        r"(?:$|[^A-Za-z0-9@:._-]|[.:](?:$|[^A-Za-z0-9]))",
        r"[A-Za-z0-9._%+-]@[A-Za-z0-9-]{1,64}\.[A-Za-z0-9]",
    ),
)  # fmt: skip
KEY_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_BODY = r"[A-Za-z0-9+/=:,. -]{0,200}\r?\n?"
SIGN = "|".join(f"(?:{secret.sign})" for secret in SECRETS) + "|-----BEGIN "

# Values that are plainly no secret: a placeholder, a number, a path, a call, a memory address, an enum of a sentence.
HARMLESS = (
    r"(?i)\*+|x{3,}|\$.*|\[redacted.*|none|null|true|false|undefined|default|required|missing|invalid|expired|unknown|"
    r"[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?[a-z/%]{0,8}|0x[0-9a-f]+|/.*|\./.*|[a-z]+\.{3}|string|bytes|[a-z_.]+\(.*"
)
# Special tokens of a tokenizer and counts of tokens are no secrets: eos_token=..., max_new_token=...
HARMLESS_BEFORE = (
    r"(?i)(?:pad|eos|bos|unk|mask|sep|cls|image|special|stop|next|first|last|per|max|min|num|new|end|start)_$"
)
# Units of systemd and names inside a cluster look like addresses: user@1000.service, root@node01.cluster.local.
NO_MAIL_ENDS = frozenset(
    "service slice socket scope mount automount target timer device path swap local internal lan cluster localdomain "
    "private intra corp hpc svc so py log".split()
)  # fmt: skip
