package syntax

import (
	"bytes"
	"go/scanner"
	"go/token"
	"strings"
)

// Normal is a text without what no program does differently for: layout and comments of a file whose grammar is
// known, spaces at the ends of lines of any other. Two texts with the same Normal need be judged once only.
func Normal(name string, src []byte) []byte {
	if !strings.HasSuffix(name, ".go") {
		lines := bytes.Split(src, []byte("\n"))
		for i := range lines {
			lines[i] = bytes.TrimRight(lines[i], " \t\r")
		}
		return bytes.TrimRight(bytes.Join(lines, []byte("\n")), "\n")
	}
	var out bytes.Buffer
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile(name, -1, len(src)), src, func(token.Position, string) {}, scanner.ScanComments)
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return out.Bytes()
		case tok == token.SEMICOLON, tok == token.COMMENT && !directive(lit):
			continue
		case lit != "":
			out.WriteString(lit)
		default:
			out.WriteString(tok.String())
		}
		out.WriteByte(' ')
	}
}

// directive says whether a comment is read by the toolchain, as in //go:build or //line.
func directive(comment string) bool {
	return strings.HasPrefix(comment, "//go:") || strings.HasPrefix(comment, "//line ") || strings.HasPrefix(comment, "/*line ") || strings.HasPrefix(comment, "//export ")
}
