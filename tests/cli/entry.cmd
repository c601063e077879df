# @entry: the value is that of the same call.
tally --runtime=vm --events inputs/entry.events inputs/entry.stp
