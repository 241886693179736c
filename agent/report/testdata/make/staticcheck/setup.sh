GOBIN=$PWD/bin go install honnef.co/go/tools/cmd/staticcheck@v0.8.2
