package sandboxtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/sandbox"
)

// Row is one way out of a sandbox, or one way to outlive, outgrow or deceive it, and what stands in its way.
type Row struct {
	ID         string                    // as in "E01"
	Tried      string                    // what the suite tries, in a few words
	Bubblewrap string                    // what denies it in that tier; "" where the row is no matter of Linux
	Landlock   string                    // the same
	Seatbelt   string                    // the same; "on a Mac" if empty: what is tried there is tried by a Mac
	Gaps       map[sandbox.Tier][]string // what a tier leaves open of it, in the words of Sandbox.Gaps
}

// Sentences of Gaps that a row shows to be true. A tier that says one of them must leave just that open, and one
// that does not must deny it.
const (
	gapAsk    = "Whether a path exists, its size, its times, its extended attributes and where a link leads can be asked, and changes to a folder be watched, anywhere on the machine."
	gapModes  = "Modes, times and extended attributes of files that this user owns can be changed anywhere on the machine."
	gapSystem = "Programs and libraries of the system folders (/usr and its like) and a few files of /etc are readable."
	gapSched  = "Scheduling and processor affinity of this user's other processes can be changed."
	gapCrash  = "A program that crashes is handed to this machine's crash handler (kernel.core_pattern), which runs outside of the sandbox."
	gapWatch  = "Memory, processes and written bytes are watched about twenty times a second, not capped by the kernel: a short burst goes unseen, and so does memory that no process has mapped."
	gapSignal = "This kernel's Landlock (before 6.12) does not keep commands from signalling other processes of this user."
)

func landlockGap(text ...string) map[sandbox.Tier][]string {
	return map[sandbox.Tier][]string{sandbox.Landlock: text}
}

func bothGap(text string) map[sandbox.Tier][]string {
	return map[sandbox.Tier][]string{sandbox.Bubblewrap: {text}, sandbox.Landlock: {text}}
}

// Rows are the rows of the suite in their order.
func Rows() []Row { return slices.Clone(rows) }

const harvested, killed, bounded = "harvest", "own init kills all", "limit"

var rows = []Row{
	{ID: "E01", Tried: "write outside of the tree, by every alias", Bubblewrap: "read-only mounts", Landlock: "Landlock", Gaps: landlockGap(gapModes)},
	{ID: "E02", Tried: "read keys and tokens in a home", Bubblewrap: "mount namespace", Landlock: "Landlock",
		Gaps: map[sandbox.Tier][]string{sandbox.Bubblewrap: {gapSystem}, sandbox.Landlock: {gapAsk, gapSystem}}},
	{ID: "E03", Tried: "secrets in environments and process lists", Bubblewrap: "empty environment, pid namespace", Landlock: "empty environment, Landlock"},
	{ID: "E04", Tried: "/proc of other processes", Bubblewrap: "pid namespace", Landlock: "Landlock"},
	{ID: "E05", Tried: "the model server, by every address", Bubblewrap: "network namespace", Landlock: "seccomp"},
	{ID: "E06", Tried: "metadata addresses of clouds", Bubblewrap: "network namespace", Landlock: "seccomp"},
	{ID: "E07", Tried: "DNS, by every road", Bubblewrap: "network namespace", Landlock: "seccomp"},
	{ID: "E08", Tried: "raw, ICMP, IPv6, UDP, /dev/tcp", Bubblewrap: "network namespace, seccomp", Landlock: "seccomp"},
	{ID: "E09", Tried: "sockets of docker, agents, tmux, D-Bus", Bubblewrap: "mount namespace", Landlock: "seccomp"},
	{ID: "E10", Tried: "abstract sockets, passed descriptors", Bubblewrap: "network namespace", Landlock: "seccomp"},
	{ID: "E11", Tried: "trace or read another process", Bubblewrap: "seccomp", Landlock: "seccomp"},
	{ID: "E12", Tried: "signal or slow another process", Bubblewrap: "pid namespace", Landlock: "Landlock, seccomp", Gaps: landlockGap(gapSched, gapSignal)},
	{ID: "E13", Tried: "fork bomb", Bubblewrap: bounded, Landlock: bounded},
	{ID: "E14", Tried: "fill the disk: bytes, inodes, hard links", Bubblewrap: bounded, Landlock: bounded},
	{ID: "E15", Tried: "fill the memory", Bubblewrap: bounded, Landlock: bounded, Gaps: bothGap(gapWatch)},
	{ID: "E16", Tried: "spin on every processor", Bubblewrap: bounded, Landlock: bounded},
	{ID: "E17", Tried: "ignore every signal", Bubblewrap: killed, Landlock: killed},
	{ID: "E18", Tried: "stop itself", Bubblewrap: killed, Landlock: killed},
	{ID: "E19", Tried: "leave a daemon", Bubblewrap: killed, Landlock: killed},
	{ID: "E20", Tried: "rewrite the tree after the verdict", Bubblewrap: killed, Landlock: killed},
	{ID: "E21", Tried: "swap links while the host reads", Bubblewrap: harvested, Landlock: harvested},
	{ID: "E22", Tried: "a second name for a file outside", Bubblewrap: "mounts, harvest", Landlock: "Landlock, harvest"},
	{ID: "E23", Tried: "rename a folder above the tree", Bubblewrap: "mount points", Landlock: "Landlock"},
	{ID: "E24", Tried: "hooks, .envrc, tasks.json, nested .git", Bubblewrap: "the host runs nothing of it", Landlock: "the host runs nothing of it"},
	{ID: "E25", Tried: "a rewritten .git, commondir, alternates", Bubblewrap: "the host runs no git in it", Landlock: "the host runs no git in it"},
	{ID: "E26", Tried: "cron, units, autostart, LaunchAgents", Bubblewrap: "read-only mounts", Landlock: "Landlock"},
	{ID: "E27", Tried: "open, osascript, Apple Events"},
	{ID: "E28", Tried: "sudo, setuid, capabilities, security", Bubblewrap: "no_new_privs, user namespace", Landlock: "no_new_privs"},
	{ID: "E29", Tried: "the terminal: TIOCSTI, /dev/tty", Bubblewrap: "seccomp, own session", Landlock: "seccomp, own session"},
	{ID: "E30", Tried: "inherited descriptors", Bubblewrap: "closed at start", Landlock: "closed at start"},
	{ID: "E31", Tried: "core dumps", Bubblewrap: "rlimit", Landlock: "rlimit", Gaps: bothGap(gapCrash)},
	{ID: "E32", Tried: "FIFO, socket, device, endless link for the host", Bubblewrap: harvested, Landlock: "Landlock, harvest"},
	{ID: "E33", Tried: "endless output, odd bytes, forged verdicts", Bubblewrap: "capture, closed descriptors", Landlock: "capture, closed descriptors"},
	{ID: "E34", Tried: "mount, unshare, chroot, nested sandbox", Bubblewrap: "seccomp", Landlock: "seccomp"},
	{ID: "E35", Tried: "io_uring, bpf, keyctl, 32-bit calls", Bubblewrap: "seccomp", Landlock: "seccomp"},
	{ID: "E36", Tried: "shared memory, queues, caches of the machine", Bubblewrap: "ipc namespace, mounts", Landlock: "seccomp, Landlock"},
	{ID: "E37", Tried: "GITHUB_ENV and its like, runner credentials", Bubblewrap: "empty environment, mount namespace", Landlock: "empty environment, Landlock"},
	{ID: "E38", Tried: "a missing or lying backend, hostile parameters", Bubblewrap: "two-way probe", Landlock: "two-way probe"},
	{ID: "E39", Tried: "umask, locale, ulimit, signals of the caller", Bubblewrap: "set anew", Landlock: "set anew"},
	{ID: "E40", Tried: "planted programs first on PATH, LD_PRELOAD", Bubblewrap: "absolute paths, empty environment", Landlock: "absolute paths, empty environment"},
}

// tiers are the columns of the table.
var tiers = []sandbox.Tier{sandbox.Bubblewrap, sandbox.Landlock, sandbox.Seatbelt}

// denied is what a row says of a tier, "" where it is no matter of that tier's system.
func (r Row) denied(tier sandbox.Tier) string {
	switch tier {
	case sandbox.Bubblewrap:
		return r.Bubblewrap
	case sandbox.Landlock:
		return r.Landlock
	}
	if r.Seatbelt == "" {
		return "on a Mac"
	}
	return r.Seatbelt
}

// Markdown is the table for people, and below it every gap in the words that the program uses.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| | tried | bubblewrap | landlock | seatbelt |\n|---|---|---|---|---|\n")
	var gaps []string
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |", r.ID, r.Tried)
		for _, tier := range tiers {
			cell := r.denied(tier)
			if cell == "" {
				cell = "not on Linux"
			}
			fmt.Fprintf(&b, " %s%s |", cell, notes(&gaps, r.Gaps[tier]))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for i, g := range gaps {
		fmt.Fprintf(&b, "%d. %s\n", i+1, g)
	}
	return b.String()
}

// notes are the numbers of a cell's gaps; those that have none yet get one.
func notes(all *[]string, gaps []string) string {
	var numbers []string
	for _, g := range gaps {
		if !slices.Contains(*all, g) {
			*all = append(*all, g)
		}
		numbers = append(numbers, strconv.Itoa(slices.Index(*all, g)+1))
	}
	if len(numbers) == 0 {
		return ""
	}
	return ", but (" + strings.Join(numbers, ", ") + ")"
}

// JSON is the list for programs.
func JSON() ([]byte, error) {
	type cell struct {
		Denied string   `json:"denied_by,omitempty"`
		Gaps   []string `json:"gaps,omitempty"`
	}
	type line struct {
		ID    string                `json:"id"`
		Tried string                `json:"tried"`
		Tiers map[sandbox.Tier]cell `json:"tiers"`
	}
	var list []line
	for _, r := range rows {
		l := line{r.ID, r.Tried, map[sandbox.Tier]cell{}}
		for _, tier := range tiers {
			if by := r.denied(tier); by != "" {
				l.Tiers[tier] = cell{by, r.Gaps[tier]}
			}
		}
		list = append(list, l)
	}
	b, err := json.MarshalIndent(list, "", "  ")
	return append(b, '\n'), err
}
