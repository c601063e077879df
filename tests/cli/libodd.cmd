# What is no file in a library's directory neither stops tally nor passes
# unnoticed; a directory named twice is read once.
mkdir "$TMP/lib" "$TMP/lib/folder.stp"
mkfifo "$TMP/lib/pipe.stp"
ln -s /dev/zero "$TMP/lib/zero.stpm"
cd "$TMP"
tally -I lib -I lib -p1 -e 'probe begin { exit() }' 2>&1 | sort -u
rm lib/pipe.stp lib/zero.stpm
echo '@define seven %( 7 %)' >lib/a.stpm
tally -I lib -I lib -e 'probe begin { println(@seven) exit() }'
