# Nothing stays in the kernel after a kill -9.
cat >"$TMP/progs.py" <<'END'
# How many BPF programs does the kernel hold?
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
attr = (ctypes.c_uint32 * 32)()
n = 0
while libc.syscall(321, 11, ctypes.byref(attr), 128) == 0:
    attr[0] = attr[1]
    n += 1
print(n)
END
before=$(python3 "$TMP/progs.py")
tally -w -e 'global s, a
probe kernel.trace("sys_enter") { s <<< 1; a[pid()] <<< 1; if (s_never) println("x") }
probe timer.profile { p[cpu()]++ } global p, s_never
probe timer.ms(50) { println("running"); exit_never++ } global exit_never' >"$TMP/out" &
i=0
until grep -q running "$TMP/out" || [ $i = 100 ]; do
	sleep 0.05
	i=$((i + 1))
done
during=$(python3 "$TMP/progs.py")
kill -9 $!
wait $! 2>/dev/null || true
# The kernel frees programs in its own time.
i=0
until [ "$(python3 "$TMP/progs.py")" = "$before" ] || [ $i = 100 ]; do
	sleep 0.05
	i=$((i + 1))
done
[ "$during" -gt "$before" ] && echo "programs while running"
[ "$(python3 "$TMP/progs.py")" = "$before" ] && echo "none after"
