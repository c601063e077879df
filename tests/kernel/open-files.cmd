# More probes than a shell lets a process have open files: tally allows itself
# more, and gives what it runs the limit that it was given.
ulimit -S -n 40
export TMP
tally -c 'sh -c "echo command: $(ulimit -S -n)"' -e '
	global n
	probe kernel.trace("s*") { n++ }
	probe end { system("echo script: $(ulimit -S -n) >$TMP/script"); println(n > 0) }' \
	2>$TMP/err
echo status $?
# system() does not wait
while ! grep -s script $TMP/script; do sleep 0.1; done
grep "open files" $TMP/err || echo none
