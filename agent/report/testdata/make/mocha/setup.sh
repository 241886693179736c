npm init -y >/dev/null
npm install --silent --no-audit --no-fund mocha@11.7.1 chai@4.5.0 mocha-junit-reporter@2.2.1 mocha-ctrf-json-reporter@0.0.9
