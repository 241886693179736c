npm init -y >/dev/null
npm install --silent --no-audit --no-fund tsx@4.20.6
