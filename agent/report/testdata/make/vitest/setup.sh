npm init -y >/dev/null
npm install --silent --no-audit --no-fund vitest@3.2.4
