command -v clang || apt-get install -y clang
