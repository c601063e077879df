# -v reports the hits of the script's own probes, -t of the library's as well.
for how in -v -t; do
	echo "$how"
	tally $how -e 'probe begin { println(errno_str(2)) exit() }' 2>&1 |
		sed -n 's/, (.*hits/ hits/; s/, nsecs.*//; s/(-[0-9]*)/(first)/
			s/, from.*//; / hits:/p'
done
