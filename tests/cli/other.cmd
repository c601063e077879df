# Samples that find an array full: every form of report has them, and a deleted
# array has them in the count.
cat >"$TMP/x.stp" <<'END'
global a[2], n, gone[2]
probe begin {
	for (i = 0; i < 5; i++) { a[i] <<< i * 10; gone[i, i] <<< i }
	a[0] <<< 1
	delete gone
	gone["x" == "x", 7] <<< 7
	foreach (k in a) n += @count(a[k])
	println(n, " in rows ", @sum(a[0]), " ", @variance(a[1]), " ", @count(gone[1, 7]))
	exit()
}
END
tally "$TMP/x.stp" 2>&1
tally -w --format=json "$TMP/x.stp" | tail -1 |
    sed 's/.*"aggregates":/"aggregates":/'
tally -w --format=openmetrics "$TMP/x.stp" | grep -c 'other="1"'
tally -w --snapshot "$TMP/s" "$TMP/x.stp"
tally -w --snapshot "$TMP/t" "$TMP/x.stp" >"$TMP/printed"
tally merge -o "$TMP/m" "$TMP/s" "$TMP/t"
python3 -c '
import json, sys
for name in sys.argv[1:]:
    a = json.load(open(name))["aggregates"][0]
    print(sum(r["cell"]["count"] for r in a["rows"]), a["other"]["count"],
          int(a["other"]["sum"], 16))' "$TMP/s" "$TMP/m"
tally merge --print "$TMP/m" | tail -n +2
