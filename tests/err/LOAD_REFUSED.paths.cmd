# A handler with more paths than the kernel is willing to follow.
{
	echo 'global n; probe kernel.trace("sys_enter") {'
	i=0
	while [ $i -lt 24 ]; do
		echo "if (\$id & (1 << $i)) v$i = 1; else v$i = 2"
		i=$((i + 1))
	done
	while [ $i -gt 0 ]; do
		i=$((i - 1))
		echo "if (v$i == 1) n += $i"
	done
	echo '}'
} >"$TMP/paths.stp"
cd "$TMP"
set +e
tally -T 0.1 paths.stp 2>&1
echo "status $?"
exit 0
