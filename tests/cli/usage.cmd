# Wrong usage: one message, where to look for help, status 1.
set +e
exec 2>&1
try() {
	tally "$@" </dev/null
	echo "status $?"
}
try
try -Q
try -e
try --events
try --version=3
try --evnets x
try -e 'probe begin {}' -e 'probe end {}'
try -p 6 x.stp
try -T 0 x.stp
try -x none x.stp
try -c true -x 1 x.stp
try -x 1 -c true x.stp
try -G 'a b=1' x.stp
try -G a= x.stp
try -D '1=2' x.stp
try --runtime=java x.stp
try --compatible=9.9 x.stp
try --compatible=1.2.3.4 x.stp
try --dump=soup x.stp
try --color=blue x.stp
try -S 1 x.stp
try -m x-y x.stp
try -m '' x.stp
try --prologue-searching=blah x.stp
try -s 0 x.stp
try --suppress-time-limits x.stp
try -l 'timer.*' -p 2
try -l begin -L end
echo 'probe begin { exit() }' >$TMP/same.stp
cd $TMP
try -o ./same.stp same.stp
try --snapshot= same.stp
try -o no/such -p1 same.stp
try -o x --snapshot x same.stp
try -i
try --remote=host x.stp
try -r 4.1 x.stp
try no-such-file.stp
try --explain NOTHING
# Fine, and -w leaves nothing that -W could make an error.
tally --compatible=1.7.9 -P --prologue-searching=never -m x_1 -w -W -p2 \
	-e 'global unused probe begin { exit() }' >/dev/null && echo fine

# Nothing wrong: no script is needed, or what passes and lists print is kept.
try --clean-cache
try --clean-cache -v
try -o kept -p1 same.stp
cat kept
try -o kept -l begin
cat kept
# Events are replayed whatever runtime is named, before or after.
echo '1ms kernel.trace("sys_enter") pid=3' >events
script='global s probe kernel.trace("sys_enter") { s <<< 1 }
	probe end { println(@count(s)) }'
try --events=events --runtime=bpf -e "$script"
try --runtime=bpf --events=events -e "$script"
exit 0
