package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/sandbox/warden"
)

// freeMemory is how many bytes may still be taken: what the machine has available, or what our own control group
// still allows where that is less.
func freeMemory() int64 {
	free := int64(8 << 30) // an honest guess where the kernel tells nothing
	if kb := warden.ReadField("/proc/meminfo", "MemAvailable"); kb > 0 {
		free = kb << 10
	}
	groups, _ := os.ReadFile("/proc/self/cgroup")
	return min(free, groupRoom("/sys/fs/cgroup", string(groups)))
}

// groupRoom is what the control groups named in a /proc/PID/cgroup file leave, the largest number if they set no limit.
// Cached file pages that nobody used lately count as free: the kernel drops them first.
// https://man7.org/linux/man-pages/man7/cgroups.7.html
func groupRoom(root, groups string) int64 {
	const none = int64(1) << 62
	room := none
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		dir, limit, used, idle := filepath.Join(root, f[2]), "memory.max", "memory.current", "inactive_file"
		switch {
		case f[1] == "memory":
			dir, limit, used, idle = filepath.Join(root, "memory", f[2]), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
		case f[1] != "":
			continue
		}
		l, okLimit := readNumber(filepath.Join(dir, limit))
		u, okUsed := readNumber(filepath.Join(dir, used))
		if okLimit && okUsed && l < none {
			room = min(room, max(l-u+warden.ReadField(filepath.Join(dir, "memory.stat"), idle), 0))
		}
	}
	return room
}

func readNumber(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}
