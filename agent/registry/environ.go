package registry

import "fmt"

// Environ is what a command needs in its environment to ask a proxy at that port of its loopback: KEY=value, in order. What
// these variables cannot say stands in Files.
func Environ(port int) []string {
	at := fmt.Sprintf("http://127.0.0.1:%d", port)
	return []string{
		"GOPROXY=" + at + "/go", "GOVCS=*:off", "GOTOOLCHAIN=local",
		"npm_config_registry=" + at + "/npm/", "npm_config_replace_registry_host=always", "npm_config_audit=false", "npm_config_fund=false",
		"npm_config_update_notifier=false",
		"YARN_NPM_REGISTRY_SERVER=" + at + "/npm", "YARN_UNSAFE_HTTP_WHITELIST=127.0.0.1", "YARN_ENABLE_TELEMETRY=0",
		"PIP_INDEX_URL=" + at + "/pypi/simple/", "PIP_CONFIG_FILE=/dev/null", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1",
		"UV_DEFAULT_INDEX=" + at + "/pypi/simple/", "UV_PYTHON_DOWNLOADS=never",
	}
}

// Files are what a command needs in its home, path below it -> text: cargo takes the replacement of its registry from a file
// alone. https://doc.rust-lang.org/cargo/reference/source-replacement.html
func Files(port int) map[string]string {
	return map[string]string{".cargo/config.toml": fmt.Sprintf(`[source.crates-io]
replace-with = "proxy"

[source.proxy]
registry = "sparse+http://127.0.0.1:%d/crates/"
`, port)}
}
