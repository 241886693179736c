#!/bin/sh
# Makes grammars.wasm.gz again from the C sources in the Go module below. It needs go, python3 and gzip, and asks the
# Go module proxy and PyPI. README.md says what comes out.
set -eu
module=github.com/smacker/go-tree-sitter@v0.0.0-20240827094217-dd81d9e9be82
zig=ziglang==0.15.2

here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$(mktemp -d)}
mkdir -p "$work"
cd "$work"
[ -d venv ] || python3 -m venv venv
venv/bin/pip install --quiet "$zig"
export ZIG_GLOBAL_CACHE_DIR="$work/zig" ZIG_LOCAL_CACHE_DIR="$work/zig"
[ -f go.mod ] || go mod init grammars 2>/dev/null
src=$(go mod download -json "$module" | sed -n 's/.*"Dir": "\(.*\)",/\1/p')

flags="--target=wasm32-wasi -Oz -DNDEBUG -g0 -ffile-prefix-map=$src=src -ffile-prefix-map=$here=here -ffunction-sections -Wno-implicit-function-declaration -mbulk-memory -msign-ext -I$src -include $here/nosystem.h"
objects=
compile() { # file object
	[ -f "$2" ] || venv/bin/python -m ziglang cc $flags $3 -c "$1" -o "$2"
	objects="$objects $2"
}
for f in alloc get_changed_ranges language lexer node parser query stack subtree tree tree_cursor wasm_store; do
	compile "$src/$f.c" "$f.o" -O2
done
for l in python javascript typescript/typescript typescript/tsx rust java; do
	o=$(echo $l | tr / -)
	compile "$src/$l/parser.c" "$o.o" -O1
	[ ! -f "$src/$l/scanner.c" ] || compile "$src/$l/scanner.c" "$o-scanner.o" -O2
done
rm -f shim.o
compile "$here/shim.c" shim.o -O2
venv/bin/python -m ziglang cc --target=wasm32-wasi -mexec-model=reactor -s -Wl,--gc-sections \
	-Wl,-z,stack-size=1048576 $objects -o grammars.wasm
gzip -9 -n <grammars.wasm >"$here/grammars.wasm.gz"
sha256sum grammars.wasm "$here/grammars.wasm.gz"
