"""Which servers run for this test run: each is started when first asked for, and all end with the run."""

import subprocess

from attribution.launch import valkey
from attribution.launch.children import stop
from tests.services import environment
from tests.services.postgresql import PostgreSQL

_postgresql: PostgreSQL | None = None
_valkey: subprocess.Popen[bytes] | None = None


def need_postgresql() -> None:
    global _postgresql
    if environment.OWN_POSTGRESQL and environment.IS_FIRST_PROCESS and _postgresql is None:
        _postgresql = PostgreSQL(environment.POSTGRESQL_SOCKETS)
        _postgresql.start()


def need_valkey() -> None:
    global _valkey
    if environment.OWN_VALKEY and environment.IS_FIRST_PROCESS and _valkey is None:
        with (environment.FOLDER / "valkey.log").open("wb") as output:
            _valkey = valkey.start(environment.VALKEY_SOCKET, output=output)
        valkey.wait_until_ready(environment.VALKEY_SOCKET, _valkey)


def end() -> None:
    if _postgresql:
        _postgresql.stop()
    if _valkey:
        stop(_valkey)
