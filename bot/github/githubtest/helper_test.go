package githubtest_test

import "strconv"

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func (w *world) validate() {}
