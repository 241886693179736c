package main

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// demofs holds the programs of the demo. Their files end in .txt so that they are no packages of this module.
//
//go:embed demofs
var demofs embed.FS

// fault is one mistake in one of the demo's programs.
type fault struct {
	ID          int    // its seed, from 1
	Program     string // folder below demofs
	File        string // of the program, as it is called in the repository
	Old, New    string // Old stands in File exactly once
	Kind        string
	MechanicCan bool // of a kind that a search over small edits makes; the others need a model
}

// demoDefault is the seed that the demo takes when nobody names one: the mechanic repairs it.
const demoDefault = 3

// demoFaults are the mistakes to choose from. The mechanic is never shown this list.
var demoFaults = []fault{
	{1, "calendar", "slot.go", "s.From < o.To && o.From < s.To", "s.From <= o.To && o.From < s.To", "boundary", true},
	{2, "calendar", "slot.go", "return s.From >= o.From && s.To <= o.To", "return s.From >= o.From || s.To <= o.To", "operator", true},
	{3, "calendar", "calendar.go", "if b.Slot.Minutes() <= 0 ||", "if b.Slot.Minutes() < 0 ||", "boundary", true},
	{4, "calendar", "calendar.go", "\t\tif busy.From-at >= least {", "\t\tif busy.From-at > least {", "boundary", true},
	{5, "calendar", "calendar.go", "Slot{minute, minute + 1}", "Slot{minute, minute - 1}", "operator", true},
	{6, "calendar", "slot.go", "last := len(merged) - 1", "last := len(merged) - 2", "off_by_one", true},
	{7, "calendar", "slot.go", "merged[last].To = max(merged[last].To, s.To)", "merged[last].To = s.To", "wrong_algorithm", false},
	{8, "calendar", "slot.go", "sorted[i].From < sorted[j].From", "sorted[i].To < sorted[j].To", "wrong_sort_key", true},
	{9, "calendar", "calendar.go", "return append([]Booking(nil), c.rooms[room]...)", "return c.rooms[room]", "forgotten_copy", false},
	{10, "calendar", "calendar.go", "b.Room, b.Slot, ErrTaken, other.Who)", "b.Room, b.Slot, ErrTaken, b.Who)", "wrong_field", true},
	{11, "calendar", "slot.go", `"%02d:%02d-%02d:%02d"`, `"%2d:%02d-%2d:%02d"`, "wrong_format", false},
	{12, "calendar", "calendar.go", "\tif c.rooms == nil {\n\t\tc.rooms = make(map[string][]Booking)\n\t}\n", "", "missing_nil_guard", false},

	{13, "cart", "cart.go", "\t\tif c.lines[i].Count <= 0 {", "\t\tif c.lines[i].Count < 0 {", "boundary", true},
	{14, "cart", "cart.go", "net := c.Subtotal() - c.Discount()", "net := c.Subtotal() + c.Discount()", "operator", true},
	{15, "cart", "discount.go", "if subtotal < code.Least {", "if subtotal > code.Least {", "comparison", true},
	{16, "cart", "discount.go", "399 + (grams-1)/1000*150", "399 + grams/1000*150", "off_by_one", true},
	{17, "cart", "discount.go", "(cents*p + 50) / 100", "(cents*p + 49) / 100", "constant", true},
	{18, "cart", "cart.go", "Shipping(c.grams(), net)", "Shipping(net, c.grams())", "swapped_arguments", true},
	{19, "cart", "discount.go", "\t\tcase ThreeForTwo:\n\t\t\tsum += c.thirds(code.SKU)\n", "", "missing_case", false},
	{20, "cart", "discount.go", "\t\t\treturn ErrUsed\n", "\t\t\treturn nil\n", "missing_error", false},
	{21, "cart", "cart.go", "\tif count < 1 {\n\t\treturn ErrCount\n\t}\n\tfor i := range c.lines {\n\t\tif c.lines[i].Item.SKU == item.SKU", "\tfor i := range c.lines {\n\t\tif c.lines[i].Item.SKU == item.SKU", "missing_guard", false},
	{22, "cart", "cart.go", "lines[i].Item.Name < lines[j].Item.Name", "lines[i].Item.SKU < lines[j].Item.SKU", "wrong_sort_key", true},
	{23, "cart", "cart.go", `"%s%d.%02d"`, `"%s%d.%d"`, "wrong_format", false},

	{24, "cache", "cache.go", "for c.order.Len() > c.limit {", "for c.order.Len() >= c.limit {", "boundary", true},
	{25, "cache", "cache.go", "if !ok || !c.now().Before(", "if !ok || c.now().Before(", "negation", true},
	{26, "cache", "cache.go", "asked := s.Hits + s.Misses", "asked := s.Hits - s.Misses", "operator", true},
	{27, "cache", "cache.go", "c.limit = max(limit, 1)", "c.limit = max(limit, 0)", "constant", true},
	{28, "cache", "cache.go", "\tc.stats.Hits++\n\tc.order.MoveToFront(e)\n", "\tc.stats.Hits++\n", "missing_statement", false},
	{29, "cache", "cache.go", "\tdelete(c.items, e.Value.(*entry).key)\n", "", "missing_statement", false},
	{30, "cache", "cache.go", "\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n\tc.limit =", "\tc.limit =", "forgotten_lock", false},
	{31, "cache", "cache.go", "\t\tif c.Evicted != nil {\n\t\t\tc.Evicted(last.Value.(*entry).key)\n\t\t}\n", "\t\tc.Evicted(last.Value.(*entry).key)\n", "missing_nil_guard", false},
	{32, "cache", "cache.go", "&entry{key, append([]byte(nil), value...), c.now().Add(c.ttl)}", "&entry{key, value, c.now().Add(c.ttl)}", "forgotten_copy", false},
}

// demoSeeds is how many faults there are; the seeds are 1 to that number.
func demoSeeds() int { return len(demoFaults) }

// demoRepo is the repository of one seed: a program with its fault, by path. A seed outside 1 to demoSeeds counts
// round, so every number gives a repository.
func demoRepo(seed int) (files map[string][]byte, f fault) {
	n := len(demoFaults)
	f = demoFaults[((seed-1)%n+n)%n]
	files = demoProgram(f.Program)
	files[f.File] = []byte(strings.Replace(string(files[f.File]), f.Old, f.New, 1))
	return files, f
}

// demoProgram is one program without a fault.
func demoProgram(name string) map[string][]byte {
	files := map[string][]byte{}
	dir := path.Join("demofs", name)
	entries, err := fs.ReadDir(demofs, dir)
	if err != nil {
		panic(fmt.Sprintf("demo program %s: %v", name, err)) // embedded: wrong only if the table above is
	}
	for _, e := range entries {
		b, err := demofs.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			panic(fmt.Sprintf("demo program %s: %v", name, err))
		}
		files[strings.TrimSuffix(e.Name(), ".txt")] = b
	}
	return files
}
