# Damaged snapshots end in one line that begins with ERROR and the file's name,
# or, where the damage is in a name or a number, are read; never in a crash.
tally --snapshot "$TMP/s.json" -e 'global s, a
probe begin {
	for (i = 0; i < 40; i++) { s <<< i * i - 99; a[i % 5, "k"] <<< i }
	exit()
}
probe end {
	println(@variance(s), @hist_log(s)[64], @median(a[1, "k"]) > 0)
	if (0) println(@distinct(a[1, "k"]))
}'
python3 - "$TMP/s.json" <<'END'
import random, subprocess, sys
random.seed(3)
good = open(sys.argv[1], 'rb').read()
words = [b'-1', b'1e999', b'99999999999999999999', b'null', b'[]', b'{}',
         b'"\\ud800"', b'"', b'}', b'\0', b'\xff', b'0x', b'true', b'']
kinds = {0: 0, 1: 0}
for i in range(150):
    text = bytearray(good)
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(text))
        kind = random.randrange(3)
        if kind == 0:
            text[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            del text[at:at + random.randint(1, 2000)]
        else:
            text[at:at + random.randint(0, 9)] = random.choice(words)
        if not text:
            text = bytearray(b' ')
    path = sys.argv[1] + '.bad'
    open(path, 'wb').write(text)
    p = subprocess.run(['tally', 'merge', '--print', path, sys.argv[1]],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    kinds[p.returncode] = kinds.get(p.returncode, 0) + 1
    lines = p.stderr.decode('latin-1').split('\n')
    if p.returncode == 1 and (len(lines) != 2 or p.stdout
                              or not lines[0].startswith('ERROR: ')):
        print('odd:', p.stderr)
print(sorted(kinds), kinds[1] > 75)
END
