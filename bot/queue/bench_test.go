package queue_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/redraft-dev/redraft/bot/queue"
)

func BenchmarkOpen(b *testing.B) {
	for _, full := range []bool{false, true} {
		b.Run(map[bool]string{false: "fresh", true: "existing"}[full], func(b *testing.B) {
			dir := b.TempDir()
			path := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
			if full {
				path = func(int) string { return filepath.Join(dir, "same") }
				q := begin(b, queue.Options{Path: path(0)})
				for i := range 200 {
					receive(b, q, fmt.Sprint(i))
				}
				end(b, q)
			}
			n := 0
			for b.Loop() {
				q, err := queue.Open(b.Context(), queue.Options{Path: path(n)})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				end(b, q)
				n++
				b.StartTimer()
			}
		})
	}
}
