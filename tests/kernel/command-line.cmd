# What -c starts is probed whole, however it is written: the program itself
# (redirections, variables, patterns), or all that a shell starts; not what
# others run meanwhile.
cd "$TMP" && rm -f stop
work-mix 0 10 0 1 stop &
other=$!
for line in 'work-mix 0 100 0 1' 'work-mix 0 100 0 1 >/dev/null' \
	'work-mix 0 100 0 $ONE 2>&1' 'work-mix 0 100 0 1; work-mix 0 50 0 1' \
	'cd / && work-mix 0 100 0 1' 'work-mix 0 100 0 1 | cat' \
	'(work-mix 0 60 0 1 & work-mix 0 40 0 1; wait)'; do
	ONE=1 tally --strict -c "$line" -e '
		global steps
		probe process("work-mix").function("mix_step") { steps <<< 1 }
		probe end { printf("%d: ", @count(steps)) }'
	echo "$line"
done
: >stop
wait $other
# The program has the pid of target(), also where a shell made its arguments.
tally -c 'work-mix 0 10 0 1 </dev/null' -e '
probe process("work-mix").function("mix_step") {
	println(pid() == target())
	exit()
}'
