# A handler of more instructions than a jump of 16 bits spans: its loops, its
# branches and its errors still end up where they should.
{
	echo 'global t = 1, n = 0'
	echo 'probe begin {'
	echo 'for (i = 0; i < 3; i++) { try {'
	echo 'if (i == 1) continue'
	i=0
	while [ $i -lt 4000 ]; do
		echo "t = t * 3 + $i; if (t < 0) n++"
		i=$((i + 1))
	done
	echo 'if (i == 2) error("third")'
	echo 'println(i, " ", t, " ", n) } catch (e) { println(e, " ", n) } }'
	echo 'exit() }'
} >"$TMP/long.stp"
tally --runtime=vm -DMAXACTION_INTERRUPTIBLE=1000000 "$TMP/long.stp"
# the furthest jump
tally -p4 "$TMP/long.stp" | sed -n 's/.*goto [+-]//p' | sort -n | tail -1
