#!/usr/bin/env bash
# Installs a .deb in a new Debian without compiler, pays there, upgrades, removes and purges it; says how many seconds passed from the
# installation to the paid payment. Run by `make package`.
set -euo pipefail
deb=$(realpath "$1")
name=$(basename "$deb")
most=20

root=$(mktemp -d)
pids=()
cleanup() {
    for pid in "${pids[@]}"; do kill "$pid" 2> /dev/null || true; done
    wait || true
    umount "$root/proc" 2> /dev/null || true
    rm -rf --one-file-system "$root"
}
trap cleanup EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# The base system is kept: the same for every try.
base=target/packages/bookworm.tar
if [[ ! -e $base ]]; then
    echo "A new Debian: some minutes, once"
    debootstrap --variant=minbase --include=ca-certificates,curl bookworm "$root" > /dev/null
    tar --create --file "$base.new" --directory "$root" .
    mv "$base.new" "$base"
else
    tar --extract --file "$base" --directory "$root"
fi
chmod 0755 "$root"
mount -t proc proc "$root/proc"
inside() { chroot "$root" "$@"; }
for program in cc gcc cargo rustc; do
    if inside sh -c "command -v $program"; then fail "there is a compiler"; fi
done

cp "$deb" "$root/tmp/"
started=$(date +%s%N)
inside env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "/tmp/$name" > "$root/tmp/apt.log" 2>&1 ||
    { cat "$root/tmp/apt.log"; fail "apt-get install"; }

# The sandbox, as a person who tries it out, and a payment on its page.
inside useradd --create-home ann
# Each of these becomes the server itself, so that its number is the server's.
as='exec setpriv --clear-groups --reuid'
(exec chroot "$root" sh -c "cd /home/ann && HOME=/home/ann TOLLGATE_LISTEN=127.0.0.1:18080 $as ann --regid ann tollgate") \
    > "$root/tmp/sandbox.out" 2> "$root/tmp/sandbox.log" &
pids+=($!)
base_url=http://127.0.0.1:18080
for _ in $(seq 1200); do
    curl --silent --fail --output /dev/null $base_url/readyz && break
    sleep 0.05
done
[[ -e $root/home/ann/tollgate-data/sandbox.json ]] || { cat "$root/tmp/sandbox.log"; fail "the sandbox is not ready"; }
field() { sed -n 's/.*"'"$1"'": *"\([^"]*\)".*/\1/p' <<< "$2" | head -1; }
notes=$(cat "$root/home/ann/tollgate-data/sandbox.json")
key=$(field secretKey "$notes")
prepared=$(curl --silent --fail $base_url/client/v1/payments -H "Authorization: Bearer $key" \
    -H 'Content-Type: application/json' -d '{"amountMinor":"12500","currency":"USD"}')
checkout=$(sed 's/.*"checkoutUrl":"\([^"]*\)".*/\1/' <<< "$prepared")
reference=$(sed 's/.*"serviceReference":"\([^"]*\)".*/\1/' <<< "$prepared")
curl --silent --fail --output /dev/null -d 'number=4242+4242+4242+4242&expiry=12/34&cvc=123' "$checkout"
for _ in $(seq 1200); do
    paid=$(curl --silent "$base_url/client/v1/transactions/$reference" -H "Authorization: Bearer $key")
    [[ $paid == *'"status":"succeeded"'* ]] && break
    sleep 0.05
done
[[ $paid == *'"status":"succeeded"'* ]] || fail "the payment did not end: $paid"
millis=$((($(date +%s%N) - started) / 1000000))

# What the package leaves: the user, folders and files with their modes, nothing readable that should not be.
expect() {
    local found
    found=$(inside stat --format '%A %U:%G' "$1") || fail "$1 is missing"
    [[ $found == "$2" ]] || fail "$1 is $found, not $2"
}
expect /var/lib/tollgate 'drwx------ tollgate:tollgate'
expect /etc/tollgate 'drwxr-xr-x root:root'
expect /etc/tollgate/tollgate.env '-rw------- root:root'
expect /usr/bin/tollgate '-rwxr-xr-x root:root'
expect /usr/lib/systemd/system/tollgate.service '-rw-r--r-- root:root'
expect /usr/share/man/man1/tollgate.1.gz '-rw-r--r-- root:root'
for file in bash-completion/completions/tollgate zsh/vendor-completions/_tollgate fish/vendor_completions.d/tollgate.fish; do
    expect /usr/share/$file '-rw-r--r-- root:root'
done
inside bash -c '. /usr/share/bash-completion/completions/tollgate && complete -p tollgate' > /dev/null || fail "bash completes nothing"
[[ $(head -1 "$root/usr/share/zsh/vendor-completions/_tollgate") == '#compdef tollgate' ]] || fail "zsh would not find its completions"
grep -q '^complete -c tollgate ' "$root/usr/share/fish/vendor_completions.d/tollgate.fish" || fail "fish completes nothing"
inside getent passwd tollgate | grep -q ':/var/lib/tollgate:/usr/sbin/nologin$' || fail "the user"
for secret in MASTER_KEY ADMIN_TOKEN; do
    inside grep -Eq "^TOLLGATE_$secret=.{32,}" /etc/tollgate/tollgate.env || fail "$secret was not generated"
done

# The unit's own command and settings, as there is no systemd in a folder; `pid` is it.
serve() {
    (exec chroot "$root" sh -c "set -a; . /etc/tollgate/tollgate.env; TOLLGATE_DATA_DIR=/var/lib/tollgate TOLLGATE_LISTEN=127.0.0.1:18081
        $as tollgate --regid tollgate tollgate serve") 2>> "$root/tmp/serve.log" &
    pid=$!
    pids+=("$pid")
    for _ in $(seq 1200); do
        curl --silent --fail --output /dev/null http://127.0.0.1:18081/readyz && return
        sleep 0.05
    done
    cat "$root/tmp/serve.log"
    fail "the unit's command is not ready"
}
stop() {
    kill "$pid"
    wait "$pid" || true
}
ask() {
    local token
    token=$(inside sed -n 's/^TOLLGATE_ADMIN_TOKEN=//p' /etc/tollgate/tollgate.env)
    curl --silent --fail http://127.0.0.1:18081/admin/v1/organizations -H "Authorization: Bearer $token" "$@"
}
serve
ask -H 'Content-Type: application/json' -d '{"name":"Kept Ltd"}' > /dev/null
stop

# A version after this one: the same files in a package that says so.
settings=$(inside sha256sum /etc/tollgate/tollgate.env)
inside sh -e -c "cd /tmp && dpkg-deb --raw-extract '$name' next && sed -i 's/^Version: .*/&+next/' next/DEBIAN/control
    dpkg-deb --root-owner-group -Zgzip -z1 --build next next.deb && rm -r next" > /dev/null
inside dpkg --install /tmp/next.deb > /dev/null
[[ $(inside dpkg-query --show --showformat '${Version}' tollgate) == *+next ]] || fail "the upgrade did not install the next version"
[[ $(inside sha256sum /etc/tollgate/tollgate.env) == "$settings" ]] || fail "the upgrade changed the settings"
serve
[[ $(ask) == *'"Kept Ltd"'* ]] || fail "the upgrade lost data"
stop

said=$(inside dpkg --purge tollgate)
for kept in /var/lib/tollgate /etc/tollgate/tollgate.env; do
    [[ -e $root$kept && $said == *"kept $kept"* ]] || fail "purge says nothing of $kept: $said"
done
[[ ! -e $root/usr/bin/tollgate ]] || fail "the binary is still there"

echo "installed, and paid $((millis / 1000)).$(printf %03d $((millis % 1000))) s later; upgraded with its data, purged with a word on what stays"
((millis < most * 1000)) || fail "more than $most s"
