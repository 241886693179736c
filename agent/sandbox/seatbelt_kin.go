package sandbox

// kin are the processes of one run, found in process tables that are looked at now and then. Without a namespace, a control
// group or a reaper that orphans fall to, a process belongs by what it cannot shed: who made it. The kernel numbers
// processes once and for all, and keeps the number of the maker when the maker is gone.
// https://github.com/apple-oss-distributions/xnu/blob/main/bsd/sys/proc_internal.h (p_uniqueid, p_puniqueid)
type kin struct {
	ids    map[uint64]bool // every process that ever belonged
	groups map[int]bool    // process groups that one of them leads or led
}

// relative is one line of a process table.
type relative struct {
	pid, parent, group int
	id, maker          uint64 // numbers that are never used twice; 0 if they could not be read
}

// newKin begins with one process.
func newKin(root relative) *kin {
	k := &kin{ids: map[uint64]bool{}, groups: map[int]bool{}}
	k.add(root)
	return k
}

func (k *kin) add(p relative) {
	if p.id != 0 {
		k.ids[p.id] = true
	}
	if p.group == p.pid {
		k.groups[p.group] = true
	}
}

// grow takes in what has come to belong, and returns who of a table belongs. A group's number is not given anew while the group
// has members, nor a process's while it lives; a group that has emptied is forgotten.
func (k *kin) grow(table []relative) map[int]relative {
	in := map[int]relative{}
	for again := true; again; {
		again = false
		for _, p := range table {
			if _, known := in[p.pid]; !known && k.has(p, in) {
				in[p.pid] = p
				k.add(p)
				again = true
			}
		}
	}
	for g := range k.groups {
		alive := false
		for _, p := range in {
			alive = alive || p.group == g
		}
		if !alive {
			delete(k.groups, g)
		}
	}
	return in
}

// has says whether a process belongs: it did before, or one that did made it, is its parent, or led its group. The first process
// of the system never does: all orphans are its children.
func (k *kin) has(p relative, in map[int]relative) bool {
	if p.pid <= 1 {
		return false
	}
	if p.id != 0 && k.ids[p.id] || p.maker != 0 && k.ids[p.maker] || k.groups[p.group] {
		return true
	}
	_, parent := in[p.parent]
	return parent
}
