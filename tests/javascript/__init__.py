"""Tests of the browser's pure modules, which Node's own runner runs without a page."""
