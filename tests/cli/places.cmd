# Lines, ranges, distances, the nearest line; with the variables that are there.
# Compilers have names of their own for long int.
cd "$BUILD/tests"
list() {
	tally "$1" "process(\"./work-vars0\").$2" |
		sed "s|$PWD|DIR|g; s|@[^\":]*/workload|@workload|g
			s/:long\b\( int\)\?/:long int/g"
}
list -l 'statement("work@vars.c:40")'
list -l 'statement("work@vars.c:37-41")'
list -l 'statement("work@vars.c:41,37")'
list -l 'statement("work@vars.c:+4")'
list -l 'statement("*@workload/vars.c:25").nearest'
list -l 'statement("twice@vars.c:*")'
list -l 'function("*@vars.c")'
list -l 'function("*@vars.c:41")'
list -L 'statement("work@vars.c:40")'
list -L 'function("work").return'
list -L 'function("twice").inline'
