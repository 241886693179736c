GOBIN=$PWD/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.6.2
