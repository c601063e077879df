# Nothing stays in the kernel after a kill -9, and the command of -c goes on: it
# is the user's.
: >"$TMP/out"
tally -w -c 'sleep 1000' -e 'global s, a
probe kernel.trace("sys_enter") { s <<< 1; a[pid()] <<< 1; if (s_never) println("x") }
probe timer.profile { p[cpu()]++ } global p, s_never
probe begin { println("child ", target()) }
probe timer.ms(50) { println("running"); exit_never++ } global exit_never' >"$TMP/out" &
until grep -q running "$TMP/out"; do sleep 0.05; done
ids=$(sed -n 's/^prog_id:[[:space:]]*//p' /proc/$!/fdinfo/* | sort -u)
during=$(work-progs $ids)
kill -9 $!
wait $! 2>/dev/null || true
# The kernel frees programs in its own time.
until [ "$(work-progs $ids)" = 0 ]; do sleep 0.05; done
[ "$during" -ge 2 ] && echo "programs while running"
echo "none after"
# It may not yet be what it is to become.
child=$(sed -n 's/^child //p' "$TMP/out" | head -n 1)
until [ "$(tr '\0' ' ' <"/proc/$child/cmdline")" = "sleep 1000 " ]; do
	sleep 0.05
done
echo "the command goes on"
kill "$child"
