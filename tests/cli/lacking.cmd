# The tests with events again, as for kernels that lack something: the same
# output, or a handler is refused.
cd ../run
for events in *.events; do
	t=${events%.events}
	options=$(sed -n '1s/^#! *tally//p' $t.stp)
	for lack in loop each each,fetch; do
		tally $options --lacking=$lack --events=$events $t.stp \
			>"$TMP/out" 2>"$TMP/err" || :
		if grep -q 'this kernel cannot do that' "$TMP/err"; then
			echo $lack >>"$TMP/refused"
		elif ! cmp -s "$TMP/out" $t.out; then
			echo "$t: differs without $lack"
			head -n 5 "$TMP/err"
		fi
	done
done
sort -u "$TMP/refused"
tally --lacking=loop,jit -e 'probe begin {}' || :
