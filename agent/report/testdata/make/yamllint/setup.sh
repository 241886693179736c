command -v yamllint || apt-get install -y yamllint
