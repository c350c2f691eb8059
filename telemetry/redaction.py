"""Taking secrets out of telemetry before it is stored: e-mail addresses, tokens, private keys, passwords.

Every pattern is RE2, hence linear in the text. What diagnosis needs stays: NCCL's host:pid:tid, PCI ids, MACs, GUIDs,
hashes, paths, `user@host` of an ssh command.
"""

from __future__ import annotations

from collections import Counter

import re2

from telemetry.secret_patterns import (
    HARMLESS,
    HARMLESS_BEFORE,
    KEY_BEGIN,
    KEY_BODY,
    KEY_END,
    NO_MAIL_ENDS,
    SECRETS,
    SIGN,
)

_KEY_LINES_LIMIT = 200
_BEFORE = 12


class Redactor:
    """Redacts one stream in order; a private key may span lines, so every stream needs a Redactor of its own.

    counts: how many secrets of each kind were taken out so far.
    """

    def __init__(self, *, enabled: bool = True) -> None:
        self.enabled = enabled
        self.counts: Counter[str] = Counter()
        self._key_lines = 0

    def fresh(self) -> Redactor:
        """A Redactor with the same settings for another stream."""
        return Redactor(enabled=self.enabled)

    def redact(self, line: bytes) -> bytes:
        """One line with secrets replaced by `[redacted:KIND]`; its line end stays. Lines inside a private key become
        empty, so that line numbers stay."""
        if not self.enabled:
            return line
        if self._key_lines:
            return self._inside_key(line)
        if b"-----BEGIN " in line:
            line = self._keys(line)
        # Few lines hold more than one kind: the set tells in one pass which are worth a search.
        for number in sorted(_SIGNS.Match(line) or ()):
            kind, pattern = _PATTERNS[number]
            line = self._replace(kind, pattern, line)
        return line

    def redact_lines(self, lines: bytes) -> bytes:
        """Many whole lines at once, the same as redact() on each; lines without a sign of a secret are passed over."""
        if not self.enabled:
            return lines
        parts: list[bytes] = []
        done = 0
        while done < len(lines):
            if self._key_lines:
                start = done
            else:
                found = _SIGN.search(lines, done)
                if not found:
                    break
                start = lines.rfind(b"\n", done, found.start()) + 1 or done
            end = lines.find(b"\n", start) + 1 or len(lines)
            parts += (lines[done:start], self.redact(lines[start:end]))
            done = end
        return b"".join((*parts, lines[done:])) if parts else lines

    def _replace(self, kind: str, pattern: re2._Regexp, line: bytes) -> bytes:
        parts: list[bytes] = []
        done = at = 0
        while at < len(line) and (found := pattern.search(line, at)):
            start, end = found.span(1)
            at = max(end, found.start() + 1)
            if _harmless(kind, line, found.start(), start, end):
                continue
            parts += (line[done:start], b"[redacted:" + kind.encode() + b"]")
            done = end
            self.counts[kind] += 1
        return b"".join((*parts, line[done:])) if parts else line

    def _keys(self, line: bytes) -> bytes:
        begin = _KEY_BEGIN.search(line)
        if not begin:
            return line
        self.counts["private-key"] += 1
        mark = line[: begin.start()] + b"[redacted:private-key]"
        end = _KEY_END.search(line, begin.end())
        if end:
            return mark + line[end.end() :]
        if b"\\n" not in line[begin.end() :]:
            # Not a key inside a JSON string, which stands on one line and was cut.
            self._key_lines = 1
        return mark + (b"\n" if line.endswith(b"\n") else b"")

    def _inside_key(self, line: bytes) -> bytes:
        end = _KEY_END.search(line)
        if end:
            self._key_lines = 0
            return line[end.end() :]
        self._key_lines += 1
        # Prefixes of log lines may stand before the key's text, so only the end of the line is looked at.
        if self._key_lines > _KEY_LINES_LIMIT or not _KEY_BODY.fullmatch(line[-66:]):
            # The key was cut: what follows is log again.
            self._key_lines = 0
            return self.redact(line)
        return b"\n" if line.endswith(b"\n") else b""


def _harmless(kind: str, line: bytes, begin: int, start: int, end: int) -> bool:
    value = line[start:end]
    if value.startswith(b"[redacted:") or b"[redacted" in line[max(start - 1, 0) : start + 10]:
        return True
    if kind == "email":
        return value.rpartition(b".")[2].lower().decode() in NO_MAIL_ENDS
    if kind not in ("secret", "password"):
        return False
    if _HARMLESS.fullmatch(value):
        return True
    if kind == "password":
        return False
    if _HARMLESS_BEFORE.search(line[max(begin - _BEFORE, 0) : begin + 1]):
        return True
    # "token: unauthorized" is a sentence; "token=unauthorized" is a setting.
    return b"=" not in line[begin:start] and value.isalpha()


def _options() -> re2.Options:
    options = re2.Options()
    # Latin-1 makes RE2 match bytes, so that broken UTF-8 in a log cannot hide a secret.
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return options


def _compiled(pattern: str) -> re2._Regexp:
    return re2.compile(pattern.encode(), _options())


def _set_of_signs() -> re2.Set:
    """Numbers of the kinds of secret of which a line shows a sign, in one pass."""
    signs = re2.Set.SearchSet(_options())
    for secret in SECRETS:
        signs.Add(secret.sign.encode())
    signs.Compile()
    return signs


_PATTERNS = tuple((secret.kind, _compiled(secret.pattern)) for secret in SECRETS)
_SIGN = _compiled(SIGN)
_SIGNS = _set_of_signs()
_KEY_BEGIN, _KEY_END, _KEY_BODY = _compiled(KEY_BEGIN), _compiled(KEY_END), _compiled(KEY_BODY)
_HARMLESS, _HARMLESS_BEFORE = _compiled(HARMLESS), _compiled(HARMLESS_BEFORE)
