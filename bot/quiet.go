package bot

import (
	"bytes"
	"regexp"
)

// reaches are calls by which code that was just written could do something to the machine that runs it, and what they
// reach. A draft's own CI runs with the repository's secrets before anybody looked, so a line too many is better here
// than one too few.
var reaches = []struct {
	what string
	form *regexp.Regexp
}{
	{"starts a process", regexp.MustCompile(`\bos/exec\b|\bexec\.Command|\bsyscall\.|\bsubprocess\b|\bos\.(system|popen|exec\w*|spawn\w*|fork)\b|\bchild_process\b|\bexecSync\b|\bspawn(Sync)?\(|\bProcessBuilder\b|\bgetRuntime\(|\bstd::process\b|\bCommand::new\b|\bshell_exec\b|\bproc_open\b|%x[{(\[]|\bKernel\.`)},
	{"opens a connection", regexp.MustCompile(`"net(/[a-z]+)*"|\bnet\.(Dial|Listen)|\bhttp\.(Get|Post|Client|NewRequest|Default)|\burllib|\brequests\.|\bhttpx\b|\bsocket\b|\bfetch\(|\bXMLHttpRequest\b|\baxios\b|\bstd::net\b|\breqwest\b|\bjava\.net\b|\bHttpClient\b|\bcurl\b|\bwget\b|https?://`)},
	{"reads the environment", regexp.MustCompile(`\bos\.(Getenv|LookupEnv|Environ|Setenv|ExpandEnv|environ|getenv|putenv)\b|\bprocess\.env\b|\bstd::env\b|\benv::var|\bSystem\.(getenv|getProperty)\b|\bENV\[`)},
	{"reaches files outside the tree", regexp.MustCompile(`["'` + "`" + `](/|~|[A-Za-z]:\\|\.\./)|\bos\.(UserHomeDir|TempDir|Open|OpenFile|Create|WriteFile|ReadFile|Remove|RemoveAll|Rename|Symlink)\b|\bioutil\.|\bhomedir\b|\bshutil\.|\bopen\(|\brequire\(['"]fs\b|\bfs\.(read|write|unlink|rm)|\bstd::fs\b|\bjava\.(io|nio)\b`)},
	{"runs text as code", regexp.MustCompile(`\beval\(|\bexec\(|\bcompile\(|\b__import__\b|\bimportlib\b|\bnew Function\b|\bvm\.run|\bplugin\.Open|\bunsafe\b|\bpickle\b|\byaml\.load\(|\bdlopen\b|\breflect\.|import "C"|//go:(linkname|generate|embed)|\bcgo\b`)},
}

// Reach says what the lines that a diff adds could do to the machine that runs them, "" if nothing is seen.
func Reach(diff []byte) string {
	for line := range bytes.SplitSeq(diff, []byte("\n")) {
		if !bytes.HasPrefix(line, []byte("+")) || bytes.HasPrefix(line, []byte("+++ ")) {
			continue
		}
		for _, r := range reaches {
			if r.form.Match(line[1:]) {
				return r.what
			}
		}
	}
	return ""
}

// quiet is why a draft's own CI must not start by itself, "" when it may.
func quiet(j Job, diff []byte) string {
	if what := Reach(diff); what != "" {
		return "the change adds a line that " + what
	}
	if j.Strange {
		return "text of somebody who may not write here was shown to the model"
	}
	return ""
}
