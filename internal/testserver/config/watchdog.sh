# Arguments: the home folder of the servers, and its name. Standard input ends
# when the test binary is gone. Then kill every server of that home and remove it.
home=$1 tag=$2
PATH=$PATH:/usr/bin:/bin:/usr/sbin:/sbin # whatever the tests have made of it
trap '' HUP INT TERM # outlive the signals that end the tests

while read -r _; do :; done

# Each process of a server has the tag in its command line, PostgreSQL's children
# by cluster_name. To look at this, and not at remembered numbers, finds orphans
# and new children, and cannot hit a number that was given to another process.
servers() {
	if [ -r /proc/self/cmdline ]; then
		grep -slF -e "$tag" /proc/[0-9]*/cmdline | while IFS=/ read -r _ _ pid _; do
			read -r name <"/proc/$pid/comm" && echo "$pid" "$name"
		done
	else
		ps -A -o pid= -o command= | grep -F -e "$tag" | while read -r pid name _; do
			name=${name##*/}
			echo "$pid" "${name%:}"
		done
	fi
}

tries=0
while [ "$tries" -lt 100 ]; do
	# The name spares a pager or an editor that is open on a log.
	pids=$(servers | while read -r pid name; do
		case $name in
		postgres | initdb | pgbouncer | mariadbd | mysqld | mysqlrouter | mysqlrouter_key | mariadb-install | mysql_install_d | wsrep_sst_rsync | rsync | redis-server | etcd | promtool | tidb-server | patroni | pg_rewind | pg_basebackup) echo "$pid" ;;
		esac
	done)
	[ -n "$pids" ] || break
	for pid in $pids; do kill -9 "$pid"; done
	tries=$((tries + 1))
	sleep 0.1
done 2>/dev/null

# A killed PostgreSQL leaves a segment of shared memory; its number is in line 7.
for file in "$home"/*/data/postmaster.pid; do
	[ -r "$file" ] || continue
	segment=$(sed -n '7s/.* //p' "$file")
	[ -z "$segment" ] || ipcrm -m "$segment"
done 2>/dev/null

# A helper of an interrupted set-up bears no tag. It ends by itself when it finds
# its input closed, but may write until then.
tries=0
until rm -rf "$home" 2>/dev/null || [ "$tries" -ge 100 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
