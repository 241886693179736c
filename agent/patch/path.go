package patch

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// checkPath refuses paths that lead out of the tree, into .git, or to different places on different machines. It
// looks at the name alone, so its word is the same everywhere.
func checkPath(name string) *Slip {
	why := ""
	switch {
	case !utf8.ValidString(name):
		why = "is not UTF-8"
	case name == "" || len(name) > 4096:
		why = "is empty or too long"
	case strings.ContainsRune(name, '\\'):
		why = "has a backslash in it"
	case strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~/") || drive.MatchString(name):
		why = "is not relative to the tree"
	default:
		why = checkComponents(name)
	}
	if why == "" {
		return nil
	}
	return slip(Escapes, about(name), "The path "+quote(name)+" "+why+".",
		"Name a file inside the tree by its path from the top, with forward slashes.")
}

var drive = regexp.MustCompile(`^[A-Za-z]:`)

func checkComponents(name string) (why string) {
	for c := range strings.SplitSeq(name, "/") {
		switch {
		case c == "" || c == ".":
			return "has an empty or a single-dot part in it"
		case compat(c) == "":
			return "has a part of dots or of nothing visible in it"
		case len(c) > 255:
			return "has a part longer than 255 bytes in it"
		case strings.IndexFunc(c, control) >= 0:
			return "has a control character in it"
		case gitAlias(c):
			return "leads into .git"
		case strings.Contains(c, ":$"):
			return "names a stream of a file"
		}
	}
	return ""
}

// checkNew refuses names that exist only on paper: a file system changes them, or nobody can see what they are.
func checkNew(name string) *Slip {
	why := ""
	switch {
	case !norm.NFC.IsNormalString(name):
		why = "is not in normal form C"
	case strings.IndexFunc(name, hidden) >= 0:
		why = "has an invisible character in it"
	case strings.ContainsRune(name, ':'):
		why = "has a colon in it"
	case slices.ContainsFunc(strings.Split(name, "/"), func(c string) bool { return strings.TrimRight(c, ". ") != c }):
		why = "has a part that ends in a dot or a space"
	default:
		return nil
	}
	return slip(Escapes, about(name), "The path "+quote(name)+" "+why+".", "Give the new file a plain name.")
}

// control is a character that no path may have: it could not be shown to a person as what it is.
func control(r rune) bool {
	switch {
	case unicode.IsControl(r), unicode.In(r, unicode.Zl, unicode.Zp):
		return true
	case 0x202A <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069: // direction overrides
		return true
	}
	return false
}

// hidden is a character that takes no room. HFS+ ignores those of the first two lines when it compares names; see
// next_hfs_char in https://github.com/git/git/blob/master/utf8.c.
func hidden(r rune) bool {
	switch {
	case 0x200C <= r && r <= 0x200F, 0x202A <= r && r <= 0x202E:
		return true
	case 0x206A <= r && r <= 0x206F, r == 0xFEFF:
		return true
	case r == 0x00AD, r == 0x034F, r == 0x061C, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0:
		return true
	case 0x180B <= r && r <= 0x180F, r == 0x200B, 0x2060 <= r && r <= 0x2069:
		return true
	case 0xFE00 <= r && r <= 0xFE0F, 0xE0000 <= r && r <= 0xE0FFF:
		return true
	}
	return control(r)
}

// fold is what is left of one part of a path when everything is taken away that some file system ignores: case,
// composition, invisible characters, dots and spaces at the end. Two names with the same fold may be one file.
func fold(part string) string {
	if ascii(part) {
		return strings.TrimRight(strings.ToLower(part), ". ")
	}
	return strings.TrimRight(folded(norm.NFD.String(visible(part))), ". ")
}

// compat is fold without the difference between compatible characters, as between a wide and a common letter.
func compat(part string) string {
	if ascii(part) {
		return fold(part)
	}
	return strings.TrimRight(folded(norm.NFKD.String(visible(part))), ". ")
}

func folded(s string) string { return norm.NFC.String(cases.Fold().String(strings.ToUpper(s))) }

func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, s)
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r >= 0x7f }) < 0
}

// foldPath folds every part of a path.
func foldPath(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = fold(p)
	}
	return strings.Join(parts, "/")
}

// shortName is an 8.3 name that NTFS may have given to .git, .gitmodules, .gitattributes or .gitignore, as in
// is_ntfs_dot_generic of https://github.com/git/git/blob/master/path.c.
var shortName = regexp.MustCompile(`^gi(?:t|tmod|tatt|tign|[0-9a-f]{0,4})~[0-9]+$`)

// gitAlias says whether one part of a path is .git on some file system.
func gitAlias(part string) bool {
	for _, name := range []string{fold(part), compat(part)} {
		stem, _, _ := strings.Cut(name, ":")
		stem = strings.TrimRight(stem, ". ")
		if stem == ".git" || shortName.MatchString(stem) {
			return true
		}
	}
	return false
}

// parents gives the folders above a path, outermost first.
func parents(name string) []string {
	var up []string
	for d := path.Dir(name); d != "." && d != "/"; d = path.Dir(d) {
		up = append(up, d)
	}
	slices.Reverse(up)
	return up
}
