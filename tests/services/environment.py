"""The environment of a test run, set before Django's settings are read.

One temporary folder holds everything. A `DATABASE_URL` or `REDIS_URL` from outside is used as it is; otherwise the
address is that of the server which the fixtures start. Processes of pytest-xdist share the servers of the first one
and have a database of their own in each.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_FOLDER_NAME = "FIRST_FAULT_TEST_FOLDER"

IS_FIRST_PROCESS = _FOLDER_NAME not in os.environ
FOLDER = Path(os.environ.get(_FOLDER_NAME) or tempfile.mkdtemp(prefix="ff-test-"))
os.environ[_FOLDER_NAME] = str(FOLDER)
if IS_FIRST_PROCESS:
    atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
FOLDER.chmod(0o711)  # PostgreSQL runs as another user when the tests run as root

POSTGRESQL_SOCKETS = FOLDER / "postgresql"
VALKEY_SOCKET = FOLDER / "valkey.sock"
PROCESS = os.environ.get("PYTEST_XDIST_WORKER", "")

os.environ.setdefault("DATABASE_URL", f"postgresql://app@/postgres?host={POSTGRESQL_SOCKETS}")
OWN_POSTGRESQL = str(POSTGRESQL_SOCKETS) in os.environ["DATABASE_URL"]

OWN_VALKEY = str(VALKEY_SOCKET) in os.environ.setdefault("REDIS_URL", f"unix://{VALKEY_SOCKET}?db=0")
if OWN_VALKEY and PROCESS:
    os.environ["REDIS_URL"] = f"unix://{VALKEY_SOCKET}?db={int(PROCESS.removeprefix('gw')) % 15 + 1}"

os.environ["FIRST_FAULT_DATA"] = str(FOLDER / f"data{PROCESS}")
os.environ["FIRST_FAULT_URL"] = "http://localhost:8000"
os.environ["DJANGO_DEBUG"] = "0"
os.environ["SECRET_KEY"] = "only-for-tests-" + "x" * 50
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's event loop runs in the tests' own thread
