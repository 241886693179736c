package perceive

// Blast is how many definitions and files depend on one, however many steps away.
type Blast struct {
	Symbols int `json:"symbols"`
	Files   int `json:"files"` // that hold them, or use them at their top level
	Direct  int `json:"direct"`
}

// Blast counts what a change of a definition may break.
func (x *Index) Blast(d Definition) Blast {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if int(d.node) >= len(x.nodes) {
		return Blast{}
	}
	var b Blast
	files := map[int32]bool{}
	x.spread(x.whole(d.node), Dependents, 0, func(n, _ uint32, depth int) {
		files[x.nodes[n].file] = true
		if x.nodes[n].symbol != 0 {
			b.Symbols++
		}
		if depth == 1 {
			b.Direct++
		}
	})
	b.Files = len(files)
	return b
}

// spread goes through the graph breadth first and tells each node once, those it begins with left out.
func (x *Index) spread(from []uint32, way Direction, depth int, tell func(n, via uint32, depth int)) {
	seen := make([]uint64, len(x.nodes)/64+1)
	see := func(n uint32) bool {
		bit := uint64(1) << (n % 64)
		had := seen[n/64]&bit != 0
		seen[n/64] |= bit
		return !had
	}
	for _, n := range from {
		see(n)
	}
	for step, level := 1, from; len(level) > 0 && (depth == 0 || step <= depth); step++ {
		var next []uint32
		for _, n := range level {
			x.neighbours(n, way, func(m uint32) {
				if !see(m) {
					return
				}
				tell(m, n, step)
				if x.nodes[m].symbol != 0 {
					next = append(next, m)
				}
			})
		}
		level = next
	}
}

// neighbours are what uses a node, or what it uses.
func (x *Index) neighbours(n uint32, way Direction, each func(uint32)) {
	if way == Dependents {
		for _, u := range x.users().of(n) {
			each(x.at(u).from)
		}
		return
	}
	for _, g := range x.files[x.nodes[n].file].edges {
		if g.from == n {
			each(g.to)
		}
	}
}
