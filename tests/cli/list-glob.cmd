# Patterns of names: *, ? and brackets.
for point in 'function("mi[w-y]_s*p")' 'function("mi[!w-y]_s*p")' 'function("[m]ix_ste[p]")'; do
	tally -l "process(\"work-mix\").$point" 2>/dev/null |
		sed 's/.*work-mix/work-mix/' || true
done
