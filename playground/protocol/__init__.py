"""The types of what is sent to the browser, from which its modules' types are generated."""
