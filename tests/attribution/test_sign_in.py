"""Signing in and out, as a person does it in a browser."""

import pytest
from django.contrib.auth.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def mika(transactional_db):
    return User.objects.create_superuser("mika", password="a-long-enough-password")


def _fill(page, password):
    page.get_by_label("Name", exact=True).fill("mika")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_the_right_password_opens_the_page_that_was_asked_for(page, mika):
    page.goto("/")
    assert "/sign-in/" in page.url
    _fill(page, "a-long-enough-password")
    page.wait_for_url("**/")
    assert "/sign-in/" not in page.url


def test_a_wrong_password_is_said_to_be_wrong_and_lets_nobody_in(page, mika):
    page.goto("/sign-in/")
    _fill(page, "guess")
    page.get_by_role("alert").get_by_text("do not go together").wait_for()
    page.goto("/")
    assert "/sign-in/" in page.url
