# A text ends at its first NUL, or is refused once it is longer than any.
set +e
try() {
	tally "$@" </dev/null 2>&1 | sed 's/offset [0-9]*/offset N/'
}
events='probe kernel.trace("sys_enter") { println(1) }'
for file in /dev/zero /dev/urandom $PWD; do
	try $file
	try --events=$file -e "$events"
	try merge $file
done | sed "s:$PWD:DIR:"
yes | tally - 2>&1
# A pipe that is read before it is written to.
mkfifo $TMP/pipe
(echo 'probe begin { println("from a pipe"); exit() }' >$TMP/pipe) &
try $TMP/pipe
exit 0
