package report

// diagnosticReaders are compilers, linters and formatters.
var diagnosticReaders []textReader

// diagnosticFiles are the report files of linters.
var diagnosticFiles []fileReader
