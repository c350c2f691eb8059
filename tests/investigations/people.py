"""Users of each role."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User


def person(name: str, role: str = "") -> User:
    """A user with that role, or with none."""
    user = get_user_model().objects.create_user(name, password="correct horse battery")
    if role:
        user.groups.add(Group.objects.get(name=role))
    return user
