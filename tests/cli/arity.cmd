# No function takes eleven arguments, and each says so. Those of the script
# language say where they are; -v shows all errors.
tally --dump-functions | sed 's/[:( ].*//' | sort -u >"$TMP/names"
(echo 'probe begin {'
 sed 's/.*/	&(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)/' "$TMP/names"
 echo '}') >"$TMP/all.stp"
tally -v -p2 "$TMP/all.stp" 2>"$TMP/err" || true
sed -n "s/.*arity mismatch found (function '\(.*\)' takes .*/\1/p" "$TMP/err" |
	sort -u >"$TMP/said"
comm -3 "$TMP/names" "$TMP/said"
[ "$(wc -l <"$TMP/names")" -gt 200 ] && echo "each of them"
