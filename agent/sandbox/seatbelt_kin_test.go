package sandbox

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKin: who belongs to a run, over several looks at the process table.
func TestKin(t *testing.T) {
	root := relative{pid: 100, parent: 1, group: 100, id: 1000, maker: 900}
	stranger := relative{pid: 50, parent: 1, group: 50, id: 500, maker: 1}
	child := relative{pid: 101, parent: 100, group: 101, id: 1001, maker: 1000}
	for _, tt := range []struct {
		name  string
		looks [][]relative
		want  [][]int
	}{
		{"children and theirs, in any order", [][]relative{{{pid: 102, parent: 101, group: 101, id: 1002, maker: 1001}, stranger, child, root}}, [][]int{{100, 101, 102}}},
		{"an orphan whose maker is alive no more but was seen", [][]relative{
			{root, child}, {root, {pid: 102, parent: 1, group: 102, id: 1002, maker: 1001}}, {{pid: 103, parent: 1, group: 103, id: 1003, maker: 1002}},
		}, [][]int{{100, 101}, {100, 102}, {103}}},
		{"an orphan in a group of one that was seen", [][]relative{{root, child}, {root, {pid: 105, parent: 1, group: 101, id: 1005, maker: 1004}}}, [][]int{{100, 101}, {100, 105}}},
		{"an orphan of a maker that nobody saw, in a session of its own", [][]relative{{root}, {root, {pid: 105, parent: 1, group: 105, id: 1005, maker: 1004}}}, [][]int{{100}, {100}}},
		{"a pid that is used again", [][]relative{{root, child}, {root, {pid: 101, parent: 1, group: 50, id: 1009, maker: 1}}}, [][]int{{100, 101}, {100}}},
		{"a group that is used again", [][]relative{{root, child}, {root}, {root, {pid: 101, parent: 1, group: 101, id: 1009, maker: 1}}}, [][]int{{100, 101}, {100}, {100}}},
		{"numbers that could not be read", [][]relative{{root, {pid: 101, parent: 100, group: 100}, {pid: 102, parent: 101, group: 102}, {pid: 7, parent: 1, group: 7}}}, [][]int{{100, 101, 102}}},
		{"the first process never belongs", [][]relative{{root, {pid: 1, parent: 0, group: 100, id: 1}, stranger}}, [][]int{{100}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newKin(root)
			for i, table := range tt.looks {
				got := slices.Sorted(maps.Keys(k.grow(table)))
				if diff := cmp.Diff(tt.want[i], got); diff != "" {
					t.Errorf("look %d: %s", i, diff)
				}
			}
		})
	}
}
