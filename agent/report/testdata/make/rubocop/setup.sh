command -v rubocop || apt-get install -y rubocop
