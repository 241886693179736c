npm init -y >/dev/null
npm install --silent --no-audit --no-fund @biomejs/biome@2.6.8
