#!/usr/bin/env bash
# The Action's first step: looks whether this runner can do the work, and gets the program.
# It takes REDRAFT_BINARY_PATH if the runner's owner set it, else builds the source that lies beside it where Go can, else
# takes the release archive, checked against checksums.txt, from REDRAFT_RELEASES or GitHub. It writes binary=PATH to
# GITHUB_OUTPUT. What it cannot do is one error annotation and exit 1. It must run on bash 3.2, which is what macOS has.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
releases=${REDRAFT_RELEASES:-https://github.com/redraft-dev/redraft/releases/download}
cr=$'\r' nl=$'\n'
# Patterns stand in variables, because bash 3.2 does not read a parenthesis after =~.
git_version='^git version ([0-9]+)\.([0-9]+)'
release_version='^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$'
loopback='^http://(127\.0\.0\.1|\[::1\]|localhost)(:[0-9]+)?(/|$)'
hex64='^[0-9a-f]{64}$'
work=

# annotate LEVEL TEXT writes one workflow command; what would end its line or begin an escape is escaped
# (https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts).
annotate() {
	local text=${2//[%]/%25}
	text=${text//"$cr"/%0D}
	printf '::%s title=redraft::%s\n' "$1" "${text//"$nl"/%0A}"
}

die() {
	[ -z "$work" ] || rm -rf "$work"
	annotate error "$1"
	exit 1
}

# quote FILE shows what another program wrote, so that no line of it is a workflow command.
quote() {
	sed -e 's/##\[/## [/g' -e 's/^/  | /' "$1"
}

# last FILE is the last line that says something, at most 300 bytes of it.
last() {
	grep -v '^[[:space:]]*$' "$1" 2>/dev/null | tail -n 1 | cut -c 1-300
}

# platform sets os and arch, in the words of Go and of the archives' names.
platform() {
	local system
	system="$(uname -s) $(uname -m)"
	case $system in
	"Darwin arm64") os=darwin arch=arm64 ;;
	"Linux x86_64" | "Linux amd64") os=linux arch=amd64 ;;
	"Linux aarch64" | "Linux arm64") os=linux arch=arm64 ;;
	"Darwin x86_64") # an Intel Mac, or an Intel runner that an Apple one translates
		[ "$(sysctl -in hw.optional.arm64 2>/dev/null)" = 1 ] || die "look at the runner: redraft runs on macOS with Apple silicon, not on $system"
		os=darwin arch=arm64
		;;
	*) die "look at the runner: redraft runs on macOS arm64 and on Linux amd64 and arm64, not on $system; choose another runs-on" ;;
	esac
}

# needs_git wants git 2.32 or newer, the floor that the program has as well.
needs_git() {
	local said
	command -v git >/dev/null || die "look for git: it is not in this runner's PATH; install git 2.32 or newer"
	said=$(git --version 2>&1) || die "look for git: git --version does not run: ${said%%"$nl"*}"
	[[ $said =~ $git_version ]] || die "look for git: git --version says ${said%%"$nl"*}, which names no version"
	if [ "${BASH_REMATCH[1]}" -lt 2 ] || { [ "${BASH_REMATCH[1]}" -eq 2 ] && [ "${BASH_REMATCH[2]}" -lt 32 ]; }; then
		die "look for git: this runner has ${said%%"$nl"*}; install 2.32 or newer"
	fi
}

# installed takes the program that the runner's owner put there.
installed() {
	case $REDRAFT_BINARY_PATH in
	/*) ;;
	*) die "take REDRAFT_BINARY_PATH: $REDRAFT_BINARY_PATH is no absolute path" ;;
	esac
	[ -f "$REDRAFT_BINARY_PATH" ] && [ -x "$REDRAFT_BINARY_PATH" ] || die "take REDRAFT_BINARY_PATH: $REDRAFT_BINARY_PATH is no program; unset it, or install redraft there"
	binary=$REDRAFT_BINARY_PATH
	way="took REDRAFT_BINARY_PATH"
}

# build leaves the program in work, or says why there is none in the variable why. What a workflow sets for its own builds
# (flags, workspace, target) is not for this one; where modules and toolchains come from stays as the runner has it.
# GOFLAGS is not empty because Go takes an empty one for unset and would read its own configuration file.
build() {
	why=
	if ! command -v go >/dev/null; then
		why="Go is not in this runner's PATH"
	elif [ ! -f "$top/go.mod" ]; then
		why="there is no source beside the Action"
	elif (cd "$top" && GOFLAGS=-mod=readonly GOWORK=off GO111MODULE=on GOOS=$os GOARCH=$arch CGO_ENABLED=0 \
		go build -buildvcs=false -trimpath -ldflags='-s -w' -o "$work/redraft.new" ./cmd/redraft) >"$work/go.log" 2>&1 </dev/null; then
		mv "$work/redraft.new" "$work/redraft"
		way="built with $(cd "$top" && go env GOVERSION)"
	else
		quote "$work/go.log"
		why="go build: $(last "$work/go.log")"
	fi
	[ -z "$why" ]
}

# fetch NAME FILE downloads one file of the release. Loopback, a mirror on the runner, may speak plain http.
fetch() {
	local from=$releases/v$version/$1 only
	only=(--proto '=https' --proto-redir '=https')
	if [[ $releases =~ $loopback ]]; then
		only=(--proto '=http' --proto-redir '=http' --noproxy '*')
	fi
	curl --silent --show-error --fail --location --max-redirs 5 "${only[@]}" --retry 3 --retry-max-time 60 --connect-timeout 15 --max-time 120 \
		--max-filesize 209715200 --output "$2.part" "$from" 2>"$work/curl.log" </dev/null ||
		die "$why; download $from: $(last "$work/curl.log"); install Go, or set REDRAFT_RELEASES to a mirror"
	mv "$2.part" "$2"
}

sha256() {
	if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi <"$1" | cut -d ' ' -f 1
}

# archive takes the program of the release that this source is of. why says what kept it from being built.
archive() {
	local name want got
	version=$(cat "$top/cmd/redraft/version.txt" 2>/dev/null) || die "$why; find the release: cmd/redraft/version.txt is missing beside the Action"
	[[ $version =~ $release_version ]] || die "$why; find the release: cmd/redraft/version.txt holds no version"
	command -v curl >/dev/null || die "$why, and curl, which would get a release, is not there either; install one of the two"
	name=redraft_${version}_${os}_$arch.tar.gz
	fetch checksums.txt "$work/checksums.txt"
	want=$(awk -v name="$name" '{ sub(/^\*/, "", $2) } NF == 2 && $2 == name { print $1 }' "$work/checksums.txt")
	[[ $want =~ $hex64 ]] || die "$why; check $name: checksums.txt of release v$version holds no one sha256 for it"
	fetch "$name" "$work/$name"
	got=$(sha256 "$work/$name")
	[ "$got" = "$want" ] || die "$why; check $name: its sha256 is $got, and checksums.txt of release v$version wants $want; nothing was unpacked"
	mkdir "$work/new"
	tar -xzf "$work/$name" -C "$work/new" redraft >"$work/tar.log" 2>&1 || die "$why; unpack $name: $(last "$work/tar.log")"
	[ -f "$work/new/redraft" ] && [ ! -L "$work/new/redraft" ] || die "$why; unpack $name: it holds no file redraft"
	chmod 0755 "$work/new/redraft"
	mv "$work/new/redraft" "$work/redraft"
	rm -rf "$work/new" "${work:?}/$name"
	way="took release v$version, sha256 $want"
}

# program sets binary and way.
program() {
	local temp=${RUNNER_TEMP:-${TMPDIR:-/tmp}}
	work=$(mkdir -p "$temp" && mktemp -d "$temp/redraft.XXXXXX") || die "make a folder in $temp: it cannot be written; free its disk, or set RUNNER_TEMP"
	if [ -n "${REDRAFT_BINARY_PATH:-}" ]; then
		installed
		return
	fi
	build || {
		if command -v go >/dev/null; then
			annotate notice "redraft is not built from source here ($why); the release is taken instead"
		fi
		archive
	}
	binary=$work/redraft
}

[ -n "${GITHUB_OUTPUT:-}" ] || die "look at the runner: GITHUB_OUTPUT is not set; this runs as a step of a workflow, on a runner of version 2.297 or newer"
platform
needs_git
program
said=$("$binary" --version 2>&1 </dev/null) || die "start $binary: ${said%%"$nl"*}"
printf 'binary=%s\n' "$binary" >>"$GITHUB_OUTPUT"
printf 'redraft: %s, in %d s: %s\n' "$way" "$SECONDS" "${said%%"$nl"*}"
