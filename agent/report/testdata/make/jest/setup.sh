npm init -y >/dev/null
npm install --silent --no-audit --no-fund jest@29.7.0 jest-junit@16.0.0 jest-ctrf-json-reporter@0.0.9
