# --events: what is wrong with a file is said with its line.
exec 2>&1
set +e
try() {
	printf "$1" >"$TMP/e"
	(cd "$TMP" && tally --events e -e "$2")
	echo "status $?"
}
script='global n; probe kernel.trace("sys_enter") { n++ } probe end { println(n) }'
try '1 kernel.trace("sys_enter")\n2 kernel.trace("sys_enter")\n' "$script"
try '' "$script"
try '# nothing\n' "$script"
try '1 kernel.trace("sys_exit")\n' "$script"
try '1 kernel.trace("sys_enter")\nx\n' "$script"
try '1 kernel.trace("sys_enter") $nothing=1\n' "$script"
try 'start soon\n' "$script"
try '\000\001' "$script"
try '1s x\n' 'probe begin { println("begin") } probe timer.ms(400) { println("timer") }'
tally --events /no/such/file -e "$script"; echo "status $?"
tally --runtime=vm -e "$script"; echo "status $?"
printf '5s kernel.trace("sys_enter")\n' | tally --events - -T 2 -e "$script"
# docs/events.md: a system call's arguments are in the caller's registers.
try '1ms syscall.read pid=10 args=0x9000,0 @0x9070:8=3 @0x9068:8=0x1000 @0x9060:8=100\n2ms syscall.read.return pid=10 args=0x9000,5\n' '
	probe syscall.read { println(argstr) }
	probe syscall.read.return { println(retval) }'
exit 0
