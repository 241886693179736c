package report

// testReaders are the runners of Python and JavaScript.
var testReaders = []textReader{pytestReader, unittestReader, jestReader, vitestReader, mochaReader, nodeTestReader, tapReader, toxReader}

// testFiles are the report files of test runners.
var testFiles = []fileReader{tapFile, junitFile, trxFile, nunitFile, ctrfFile, jestJSONFile, mochaJSONFile, rspecFile}
