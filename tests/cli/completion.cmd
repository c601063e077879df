# Completion knows the options of --help, and completes.
here=$(dirname "$(command -v tally)")
for o in $(tally --help | sed '/Accepted/,$d; /tally merge/d' | grep -o '^  .*' |
	grep -o -- '--[a-z-]*' | sort -u); do
	grep -q -- "[ \"]$o[ \"]" "$here/tally.bash" || echo "not there: $o"
done
bash -c '. "$1"; COMP_WORDS=(tally --sn); COMP_CWORD=1; _tally
echo "${COMPREPLY[@]}"; COMP_WORDS=(tally mer); _tally
echo "${COMPREPLY[@]}"' - "$here/tally.bash"
