#!/bin/sh
# Lays out the whole file system of the image: the binary, the libraries it is linked with, the certificates of the system it runs on, a
# user and a folder for SQLite. No shell, no package manager.
#   image-root.sh BINARY FOLDER
set -eu
binary=$1
root=$2

install -D -m 0755 "$binary" "$root/usr/local/bin/tollgate"
ldd "$binary" | sed -n -e 's|.* => \(/[^ ]*\) .*|\1|p' -e 's|^[[:space:]]*\(/[^ ]*\) .*|\1|p' | while read -r library; do
    install -D -m 0755 "$library" "$root$library"
done
install -D -m 0644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
echo 'tollgate:x:10001:10001::/var/lib/tollgate:/sbin/nologin' > "$root/etc/passwd"
echo 'tollgate:x:10001:' > "$root/etc/group"
install -d -o 10001 -g 10001 -m 0700 "$root/var/lib/tollgate"
