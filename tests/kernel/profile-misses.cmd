# Ticks that find a CPU inside the bpf system call are lost, and the ledger
# knows how many: with them there are as many as the clock says.
status=0
tally --strict --format=json -c 'work-inbpf 1500' -e '
global n, t0
probe timer.profile.freq.hz(1000) { n <<< 1 }
probe begin { t0 = gettimeofday_ns() }
probe end { println(@count(n), " ", gettimeofday_ns() - t0) }' \
    >"$TMP/out" 2>"$TMP/err" || status=$?
echo "status $status"
sed -E 's/[0-9]+/N/g' "$TMP/err"
python3 - "$TMP/out" <<'END'
import json, os, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
n, ns = map(int, lines[0]['text'].split())
p = lines[-1]['ledger'][0]
due = ns / 1e6 * os.cpu_count()
print(n == p['handled'] == p['hits'], p['misses'] > 20,
      0.8 * due < n + p['misses'] < 1.02 * due or (n, p['misses'], due))
END
