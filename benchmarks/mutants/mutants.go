package main

// mutants are the breaks, by promise. Each is what a careless change could do, and the named test must not let it pass.
var mutants = []Mutant{
	{"tests may be edited", "promise 3", "agent/patch/protected.go",
		"names: words(testNames), under: words(testFolders)}", "under: words(testFolders)}",
		"./agent/patch", "TestProtectedByDefault"},
	{"a configuration opens workflows", "promise 3", "agent/patch/protect.go",
		"if r, ok := matching(neverOpen, folded); ok {", "if r, ok := matching(neverOpen, folded); ok && !p.opens(folded) {",
		"./agent/patch", "TestPolicyOpensAndProtects"},
}
