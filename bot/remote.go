package bot

import "github.com/redraft-dev/redraft/worktree"

// Remote is what Hub.Remote gives, by a name that a Hub can say without knowing git.
type Remote = worktree.Remote
