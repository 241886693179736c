GOBIN=$PWD/bin go install golang.org/x/tools/cmd/goimports@v0.52.0
