GOBIN=$PWD/bin go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
