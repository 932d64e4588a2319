"""The forms of /account/: what a name and a password may be."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password

from playground.models import ACCOUNT_NAME, Account

PASSWORD = 256  # characters: hashing takes no longer for more, reading does
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{2,39}")
NAME_RULE = "3 to 40 of the letters a to z, digits, and . _ -; it begins with a letter or a digit."


def clean_username(text: str) -> str:
    """Return a name as it is stored: capitals make no difference."""
    return text.strip().lower()


class _Name(forms.CharField):
    def __init__(self) -> None:
        super().__init__(max_length=ACCOUNT_NAME, error_messages={"required": "Enter a name."})

    def clean(self, value: Any) -> str:
        return clean_username(super().clean(value))


class _Password(forms.CharField):
    def __init__(self) -> None:
        super().__init__(max_length=PASSWORD, strip=False, error_messages={"required": "Enter a password."})


class SignIn(forms.Form):
    """A name and a password."""

    username = _Name()
    password = _Password()


class SignUp(SignIn):
    """A name and a password that an account may have."""

    def clean_username(self) -> str:
        """Refuse a name that the rule does not allow."""
        name: str = self.cleaned_data["username"]
        if not NAME.fullmatch(name):
            raise forms.ValidationError("This name is not allowed; the rule is below it.")
        return name

    def clean_password(self) -> str:
        """Refuse a password that can be guessed."""
        password: str = self.cleaned_data["password"]
        validate_password(password, Account(username=self.cleaned_data.get("username", "")))
        return password


class Confirm(forms.Form):
    """The password of who is signed in."""

    password = _Password()


class ChangePassword(Confirm):
    """The password, and another one."""

    new = _Password()

    def __init__(self, *args: Any, account: Account, **more: Any) -> None:
        super().__init__(*args, **more)
        self.account = account

    def clean_new(self) -> str:
        """Refuse a password that can be guessed."""
        password: str = self.cleaned_data["new"]
        validate_password(password, self.account)
        return password
