"""The product's settings on the tests' servers. Only what would slow tests down is different."""

from tests.services import environment

# isort: split

from attribution.settings import *  # noqa: F403 - the product's settings, whole
from attribution.settings import DATABASES, STORAGES

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # a file: several processes and threads share it, as in life
    DATABASES["default"]["TEST"] = {"NAME": str(environment.FOLDER / "test.sqlite3")}

# Names with a digest need `collectstatic`; the tests of the launcher and of the package cover that.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
