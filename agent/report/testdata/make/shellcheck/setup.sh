command -v shellcheck || apt-get install -y shellcheck
