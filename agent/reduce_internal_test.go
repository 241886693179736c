package agent

import (
	"errors"
	"slices"
	"testing"
)

// TestFewest: what is left is what the property needs, in order, and nothing of it can go.
func TestFewest(t *testing.T) {
	var hundred []int
	for i := range 100 {
		hundred = append(hundred, i)
	}
	for _, need := range [][]int{{}, {0}, {99}, {3, 50, 98}, {10, 11, 12, 13}, hundred} {
		asked := 0
		got, err := fewest(hundred, func(some []int) (bool, error) {
			asked++
			for _, n := range need {
				if !slices.Contains(some, n) {
					return false, nil
				}
			}
			return true, nil
		})
		if err != nil || !slices.Equal(got, need) || asked > 400 {
			t.Errorf("got %v, %v after %d questions; want %v", got, err, asked, need)
		}
	}
	spent := errors.New("spent")
	got, err := fewest(hundred, func(some []int) (bool, error) {
		if len(some) < 60 {
			return false, spent
		}
		return true, nil
	})
	if !errors.Is(err, spent) || len(got) < 60 {
		t.Errorf("got %d left, %v", len(got), err)
	}
	if hundred[99] != 99 {
		t.Error("it changed what it was given")
	}
}
