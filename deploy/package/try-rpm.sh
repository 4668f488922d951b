#!/usr/bin/env bash
# Installs an .rpm with RPM's own tools in a new system, upgrades and removes it. The system is Debian's, because that is at hand: RPM has a
# database of its own in it, and what the package needs of Fedora or RHEL is only listed. Run by `make package`, after `try.sh`.
set -euo pipefail
rpm=$(realpath "$1")

root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
tar --extract --file target/packages/bookworm.tar --directory "$root"
chmod 0755 "$root"
inside() { chroot "$root" "$@"; }
# Scripts run inside; names of what is needed are Fedora's.
tool() { rpm --root "$root" --dbpath /var/lib/rpm "$@"; }
change() { tool --nodeps --force-debian "$@" 2>&1 || fail "rpm $*"; }

rpm --checksig --nosignature "$rpm" > /dev/null || fail "its digests"
tool --initdb
said=$(change --install "$rpm")
[[ $said == *'has a new master key'* ]] || fail "the installation says nothing of the key: $said"
tool --verify --nodeps tollgate || fail "what is installed is not what was packaged"

expect() {
    local found
    found=$(inside stat --format '%A %U:%G' "$1") || fail "$1 is missing"
    [[ $found == "$2" ]] || fail "$1 is $found, not $2"
}
expect /var/lib/tollgate 'drwx------ tollgate:tollgate'
expect /etc/tollgate/tollgate.env '-rw------- root:root'
expect /usr/bin/tollgate '-rwxr-xr-x root:root'
expect /usr/lib/systemd/system/tollgate.service '-rw-r--r-- root:root'
expect /usr/share/zsh/site-functions/_tollgate '-rw-r--r-- root:root'
inside getent passwd tollgate | grep -q ':/var/lib/tollgate:/usr/sbin/nologin$' || fail "the user"
for secret in MASTER_KEY ADMIN_TOKEN; do
    inside grep -Eq "^TOLLGATE_$secret=.{32,}" /etc/tollgate/tollgate.env || fail "$secret was not generated"
done
# The unit's own command finds its settings; the database is the user's.
inside sh -c "umask 077; set -a; . /etc/tollgate/tollgate.env; TOLLGATE_DATA_DIR=/var/lib/tollgate
    exec setpriv --clear-groups --reuid tollgate --regid tollgate tollgate migrate" > "$root/tmp/migrate.log" 2>&1 || { cat "$root/tmp/migrate.log"; fail "the unit's user cannot migrate"; }
expect /var/lib/tollgate/tollgate.db '-rw------- tollgate:tollgate'

kept=$(inside sha256sum /etc/tollgate/tollgate.env /var/lib/tollgate/tollgate.db)
change --upgrade --replacepkgs "$rpm" > /dev/null
[[ $(inside sha256sum /etc/tollgate/tollgate.env /var/lib/tollgate/tollgate.db) == "$kept" ]] || fail "the upgrade changed settings or data"

said=$(change --erase tollgate)
for kept in /var/lib/tollgate /etc/tollgate/tollgate.env; do
    [[ -e $root$kept && $said == *"kept $kept"* ]] || fail "the removal says nothing of $kept: $said"
done
[[ ! -e $root/usr/bin/tollgate ]] || fail "the binary is still there"
needed=$(rpm --query --requires --package "$rpm" | grep -v '^rpmlib')
names=$(cut -d'(' -f1 <<< "$needed" | sort -u | paste -sd' ')
libc=$(grep -o 'GLIBC_[0-9.]*' <<< "$needed" | sort -V | tail -1)
echo "the .rpm: installed, upgraded with its data, removed with a word on what stays; it needs $names, $libc"
