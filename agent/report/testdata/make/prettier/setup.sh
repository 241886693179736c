npm init -y >/dev/null
npm install --silent --no-audit --no-fund prettier@3.10.1
