# The ledger: what the kernel counted (-t) is what tally and its programs
# counted; a full event buffer is a loss with its cause, and --strict's status.
tally -t -c "work-mix 3000 300 300 2" -e '
global s, t
probe kernel.trace("sys_enter") { if (pid() == target() && $id == 110) s <<< 1 }
probe process("work-mix").function("mix_step") { t <<< 1 }
probe perf.sw.page_faults.sample(1) { s <<< 1 }
probe end { println(@count(t), " ", @count(s) > 6000) }' 2>"$TMP/err"
grep -c 'hits: [0-9]*, handled: [0-9]*, nsecs: [0-9]*min/[0-9]*avg/[0-9]*max,' \
    "$TMP/err"
grep -c 'contradict' "$TMP/err" || true
sed -n 's/.*mix_step"), .*hits: \([0-9]*\), handled: \([0-9]*\).*/\1 \2/p' \
    "$TMP/err"
# Nobody reads until the work is done: the buffer of 1 MiB is full then.
cd "$TMP"
mkfifo fifo
(until [ -e done ]; do sleep 0.1; done; cat) <fifo >out &
status=0
tally --strict --format=json -s 1 -c 'work-calls getppid 50000 4; : >done' -e '
probe kernel.trace("sys_enter") {
	if (ppid() == target() && $id == 110) printf("%s\n", execname())
}' >fifo 2>err || status=$?
wait
echo "status $status"
sed -E 's/[0-9]+/N/g' err
python3 - out <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
text = ''.join(l['text'] for l in lines if l['type'] == 'text')
p = lines[-1]['ledger'][0]
print(text.count('work-calls\n') + p['ring_full'] == 200000,
      p['hits'] == p['handled'] + p['lock_skips'] + p['nest_skips'])
END
