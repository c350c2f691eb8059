"""Create a user with a role."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from investigations.access import ROLES, Operator
from investigations.audit.services import record


class Command(BaseCommand):
    help = "Create a user with a role. The password is read from a file or from standard input, never from an argument."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--role", choices=list(ROLES), default="viewer")
        parser.add_argument("--email", default="")
        parser.add_argument(
            "--password-file", required=True, help="a file that holds the password; - for standard input"
        )

    @transaction.atomic
    def handle(self, *, username: str, role: str, email: str, password_file: str, **options: Any) -> None:
        users = get_user_model()._default_manager
        if users.filter(username=username).exists():
            raise CommandError(f"There is a user {username} already.")
        password = self._password(password_file)
        user = get_user_model()(username=username, email=email)
        try:
            user.full_clean(exclude=["password"])
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        user.set_password(password)
        user.save()
        user.groups.add(Group.objects.get(name=role))
        record(Operator(), "created user", user, role=role)
        self.stdout.write(f"Created {username}, {role}.")

    def _password(self, source: str) -> str:
        try:
            text = sys.stdin.readline() if source == "-" else Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"The password file cannot be read: {error}") from None
        password = text.rstrip("\r\n")
        if not password:
            raise CommandError("The password is empty.")
        return password
