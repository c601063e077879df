# A program whose functions have no names any more.
cp $(command -v work-bare) $TMP/bare && strip -s $TMP/bare
tally -p2 -e "probe process(\"$TMP/bare\").function(\"work\") {}" 2>&1 |
	sed "s,$TMP,TMP,"
