npm init -y >/dev/null
npm install --silent --no-audit --no-fund typescript@5.9.3
