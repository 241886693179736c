package worktree

// Remote is a repository over HTTPS and how to get in. Its token reaches git through its environment alone.
type Remote struct {
	URL   string // as in https://github.com/owner/name.git; never with a credential in it
	Token string // sent as basic auth of x-access-token, to this address's host alone; anonymous if empty
	CA    string // PEM file of authorities, as of a local GitHub; the system's if empty
}
