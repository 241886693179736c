package registry

// official are the registries as their own projects name them. This list is the one place of the program where hosts of
// registries stand.
var official = map[string]struct {
	base  string
	hosts []string
}{
	"go":     {"https://proxy.golang.org/", []string{"proxy.golang.org", checksums}},        // https://go.dev/ref/mod#environment-variables
	"npm":    {"https://registry.npmjs.org/", []string{"registry.npmjs.org"}},               // https://docs.npmjs.com/cli/v10/using-npm/config#registry
	"pypi":   {"https://pypi.org/simple/", []string{"pypi.org", "files.pythonhosted.org"}},  // https://docs.pypi.org/api/index-api/
	"crates": {"https://index.crates.io/", []string{"index.crates.io", "static.crates.io"}}, // https://doc.rust-lang.org/cargo/reference/registry-index.html
}

// checksums is the name and the host of Go's checksum database. https://go.dev/ref/mod#checksum-database
const checksums = "sum.golang.org"

// Official is the base address of an ecosystem's own registry.
func Official(ecosystem string) string { return official[ecosystem].base }
