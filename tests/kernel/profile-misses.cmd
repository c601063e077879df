# Ticks that find a CPU inside the bpf system call are lost, and the ledger
# knows how many: with them there are as many as the clock says, which is asked
# when all CPUs tick already, for the least, and before tally starts, for the
# most.
status=0
started=$(cut -d ' ' -f 1 /proc/uptime)
tally --strict --format=json -c 'work-inbpf 500' -e '
global n, first, last
probe timer.profile.freq.hz(1000) { n <<< 1 }
probe timer.ms(1) { last = ktime_get_ns(); if (!first) first = last }
probe end { println(@count(n), " ", last - first) }' \
    >"$TMP/out" 2>"$TMP/err" || status=$?
ended=$(cut -d ' ' -f 1 /proc/uptime)
echo "status $status"
sed -E 's/[0-9]+/N/g' "$TMP/err"
python3 - "$TMP/out" "$started" "$ended" <<'END'
import json, os, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
n, ns = map(int, lines[0]['text'].split())
p = lines[-1]['ledger'][0]
cpus = os.cpu_count()
least = ns / 1e6 * cpus
most = (float(sys.argv[3]) - float(sys.argv[2]) + 0.02) * 1e3 * cpus
print(n == p['handled'] == p['hits'], p['misses'] > 20,
      0.98 * least < n + p['misses'] < most or (n, p['misses'], least, most))
END
