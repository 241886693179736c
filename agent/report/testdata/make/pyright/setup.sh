npm init -y >/dev/null
npm install --silent --no-audit --no-fund pyright@1.1.414
