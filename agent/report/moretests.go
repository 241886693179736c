package report

// moreTestReaders are the runners of Rust, Java, C and C++, Ruby, PHP, Swift and .NET.
var moreTestReaders []textReader
