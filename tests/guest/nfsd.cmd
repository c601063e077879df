# A server of NFS 4 in this machine, mounted from itself: what is asked of it and
# what it does, by functions and types of a module. Its tables, which a daemon
# would fill, are filled here; its period of grace is short.
exec 2>&1
for m in sunrpc auth_rpcgss grace lockd nfs_acl nfsd netfs fscache nfs \
	dns_resolver nfsv4; do
	insmod /lib/$m.ko 2>/dev/null || :
done
mkdir -p /export /mnt
mount -t tmpfs export /export
mkdir /export/dir
echo hello >/export/dir/file
mount -t nfsd nfsd /proc/fs/nfsd
cd /proc/net/rpc
echo 'nfsd 127.0.0.1 2147483647 *' >auth.unix.ip/channel
echo '* /export 2147483647 9250 65534 65534 0' >nfsd.export/channel
printf '* 1 \\x00000000 2147483647 /export\n' >nfsd.fh/channel
echo '0 2147483647 0' >auth.unix.gid/channel
cd /proc/fs/nfsd
echo '-3 +4' >versions
echo 10 >nfsv4leasetime
echo 10 >nfsv4gracetime
echo 'tcp 2049' >portlist
echo 2 >threads
cd /
mount -t nfs4 -o addr=127.0.0.1,clientaddr=127.0.0.1,vers=4.2,proto=tcp,sec=sys \
	127.0.0.1:/ /mnt
# The grace is over when a file can be opened for writing.
echo begin >/mnt/begin
cat >/tmp/work.sh <<'W'
cat /mnt/dir/file
echo hello world >/mnt/new
mv /mnt/new /mnt/dir/newer
rm /mnt/dir/newer
mkdir /mnt/sub
rmdir /mnt/sub
cat /mnt/none
true
W
tally -w -c 'sh /tmp/work.sh' -e '
global seen, ip, requests, kept
probe nfsd.proc.entries {
	ip[client_ip, version, proto, uid, gid] <<< fh != 0
	if (name != "nfsd.proc.lookup" && name != "nfsd.proc.commit")
		seen[name, argstr]++
}
probe nfsd.proc.lookup.return { kept[retstr]++ }
probe nfsd.unlink {
	seen[name, filename . " " . ip_ntop(addr_from_rqst($rqstp))]++
}
probe nfsd.unlink.return { seen[name, retstr]++ }
probe nfsd.create, nfsd.rename { seen[name, filename . " in " .
	task_dentry_path(task_current(), fh->fh_dentry,
			 fh->fh_export->ex_path->mnt)]++ }
probe nfsd.dispatch { requests <<< version == 4 && prog == 100003 }
probe nfsd.entries, nfsd.return, nfsd.proc.return ? { n++ }
probe end {
	foreach ([what+, of] in seen)
		println(what, ": ", of, " ", seen[what, of])
	foreach ([a, v, p, u, g] in ip)
		println(a, " ", v, " ", p, " ", u, " ", g, " ",
			@min(ip[a, v, p, u, g]))
	println(kept["0"] > 0, kept["NFSERR_NOENT"] > 0, @min(requests))
}'
umount /mnt
echo 0 >/proc/fs/nfsd/threads
