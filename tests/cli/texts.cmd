# Texts that need no script.
tally --version | head -1 | sed 's/tally [0-9.]*/tally N/'
tally --help | head -4
tally -h >/dev/null && echo help ok
tally --limits | grep MAXERRORS
tally --explain EXPECTED
tally --dump-functions | grep '^execname'
tally -l 'timer.*' | head -2
tally -l 'nosuch.*' 2>&1 || echo "status $?"
tally --dump-probe-aliases | sort | uniq -d
tally -p2 -e 'probe syscall { }' 2>&1 | grep -c 'follow: accept, .* in all)'
# a wildcard's hundreds of probes say the same once
tally -p2 -e 'probe syscall.* { x = nothing } probe end { }' 2>&1 >/dev/null | grep -v '^ ' | sed 's/and [0-9]* more/and N more/'
