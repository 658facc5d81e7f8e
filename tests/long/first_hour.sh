#!/usr/bin/env bash
# The first hour of a new user, in a bare root of Debian: from this tree, a folder of 2,000 pictures and a table
# to verdicts and pages, by the README's commands alone; says what each step took.
#
#     tests/long/first_hour.sh ROOT [SUITE]      bookworm; ROOT is made by debootstrap unless it is there
#
# Needs root, debootstrap, a Debian mirror, and dataset-fashion-mnist, of which the pictures are made. The
# committed tree is what is tried. ROOT stays; remove it by hand (nothing is mounted in it afterwards).
set -euo pipefail
bare=${1:?usage: tests/long/first_hour.sh ROOT [SUITE]}
suite=${2:-bookworm}
tree=$(cd "$(dirname "$0")/../.." && pwd)

if [[ $(id -u) -ne 0 ]] || ! command -v debootstrap >/dev/null; then
    echo "skipped: this needs root and debootstrap"
    exit 77
fi
if [[ ! -e $bare/done ]]; then
    rm -rf "$bare"
    debootstrap --variant=minbase "$suite" "$bare" >/dev/null
    touch "$bare/done"
fi
bare=$(cd "$bare" && pwd)

rm -rf "$bare/root/cull" "$bare/root/own"
mkdir -p "$bare/root/cull" "$bare/root/own"
git -C "$tree" archive HEAD | tar x -C "$bare/root/cull"
/usr/bin/python3 "$tree/tests/long/make_own.py" "$bare/root/own"

# What the README has a reader type of data of one's own: the indented commands below "Your own data".
commands=$(sed -n '/^Your own data/,/^answers for/p' "$tree/README.md" | sed -n 's/^    \(build\/cull .*\)/\1/p')
[[ $(wc -l <<<"$commands") -eq 2 ]] || { echo "first_hour: the README's commands are not two" >&2; exit 1; }

cat >"$bare/root/try.sh" <<EOF
set -euo pipefail
step() {
    local begun=\$SECONDS
    echo "\$ \$*"
    bash -c "\$*" >>/root/try.log 2>&1 || { tail -n 20 /root/try.log; echo "first_hour: failed: \$*"; exit 1; }
    echo "  \$((SECONDS - begun)) s"
}
cd /root/cull
rm -f /root/try.log
apt-get update -q >>/root/try.log 2>&1
step apt-get install -y -q make
step make
step build/cull doctor
step build/cull data info /root/own/photos
$(sed 's/PHOTOS/\/root\/own\/photos/; s/^/step "/; s/$/"/' <<<"$commands")
$(sed 's/recipes\/pictures/recipes\/table/; s/PHOTOS/\/root\/own\/table.csv/; s/trial/table/g; s/^/step "/; s/$/"/' <<<"$commands")
step "build/cull train recipes/pictures.yaml data.name=/root/own/photos data.split=0.2 select.strategy=sb --out run"
step "build/cull predict run /root/own/photos -o predicted.csv"
step "build/cull export run -o chosen.csv"
step make install PREFIX=/usr/local
cd /
step "cull data info /root/own/table.csv"
step "cull data convert /root/own/photos --size 32 -o /root/own/arrays"
step "cull train pictures.yaml data.name=/root/own/arrays data.size=0 data.split=0.2 train.epochs=2 --out /root/own/again"
step "cull train table.yaml data.name=/root/own/table.csv data.split=0.2 --out /root/own/run"
step "cull report /root/own -o /root/own/runs.html"
EOF
mount --bind /proc "$bare/proc"
trap 'umount "$bare/proc"' EXIT
chroot "$bare" /bin/bash /root/try.sh

fail=0
for name in trial table; do
    for file in "$name/comparison.json" "$name.html"; do
        [[ -s $bare/root/cull/$file ]] || { echo "first_hour: there is no $file"; fail=1; }
    done
    grep -q 'src="http\|href="http' "$bare/root/cull/$name.html" && { echo "first_hour: $name.html wants the network"; fail=1; }
    echo "$name: $(/usr/bin/python3 -c "import json, sys; c = json.load(open(sys.argv[1])); print(c['verdict'], c['advice'])" \
        "$bare/root/cull/$name/comparison.json")"
done
[[ $(wc -l <"$bare/root/cull/predicted.csv") -eq 2001 ]] || { echo "first_hour: not 2,000 predictions"; fail=1; }
exit "$fail"
