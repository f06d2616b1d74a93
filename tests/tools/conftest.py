"""What sets up a machine: tools/setup, tools/fresh, tools/check_rooms."""

pytest_plugins = ["skips"]
