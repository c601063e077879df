# A handler that is more work for the kernel than it is willing to do: it walks
# each search through the whole of the string.
{
	echo 'global n; probe kernel.trace("sys_enter") { s = user_string($id)'
	i=0
	while [ $i -lt 200 ]; do
		echo "n += isinstr(s, \"a needle of characters $i\")"
		i=$((i + 1))
	done
	echo '}'
} >"$TMP/paths.stp"
cd "$TMP"
set +e
tally -T 0.1 paths.stp 2>&1
echo "status $?"
exit 0
