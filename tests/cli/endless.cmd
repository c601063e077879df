# A script without an end is refused once it is longer than any script.
# status: 1
tally /dev/zero 2>&1
