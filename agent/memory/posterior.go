package memory

import "math"

// Prior names the distribution that is assumed of a test's rate of failing before any run of it was seen: Beta(1, 1), under
// which every rate is equally likely. It favours neither a sound test nor a flaky one.
const Prior = "Beta(1, 1)"

// Posterior is what runs of the same files say of a test's rate of failing: Beta(1 + fails, 1 + passes).
type Posterior struct {
	Mean float64 `json:"mean"` // the chance that the next run of the same files is red
	Low  float64 `json:"low"`  // the rate lies below with 5%
	High float64 `json:"high"` // and above this with 5%
}

// Posterior of a rate, from what was counted; of nothing, it is the prior's.
func (c Count) Posterior() Posterior {
	fails := max(c.Fails, 0)
	passes := max(c.Runs-fails, 0)
	a, b := fails+1, passes+1
	return Posterior{Mean: float64(a) / float64(a+b), Low: quantile(.05, a, b), High: quantile(.95, a, b)}
}

// quantile of Beta(a, b), found by halving; 50 steps leave less than 1e-15.
func quantile(p float64, a, b int) float64 {
	low, high := 0., 1.
	for range 50 {
		x := (low + high) / 2
		if below(x, a, b) < p {
			low = x
		} else {
			high = x
		}
	}
	return (low + high) / 2
}

// below is the chance that a rate under Beta(a, b) lies below x: that of a successes or more in a+b-1 tries with chance x each.
// https://dlmf.nist.gov/8.17#E5
func below(x float64, a, b int) float64 {
	n := a + b - 1
	if x <= 0 || x >= 1 {
		return math.Round(x)
	}
	sum := 0.
	for k := a; k <= n; k++ {
		sum += math.Exp(choose(n, k) + float64(k)*math.Log(x) + float64(n-k)*math.Log1p(-x))
	}
	return min(sum, 1)
}

// choose is the logarithm of n over k.
func choose(n, k int) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	some, _ := math.Lgamma(float64(k + 1))
	rest, _ := math.Lgamma(float64(n - k + 1))
	return all - some - rest
}
