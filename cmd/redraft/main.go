// Command redraft answers red checks: it sees the red on this machine, lets a model on this machine repair it,
// and keeps only what the repository's own check proves.
package main

func main() {}
