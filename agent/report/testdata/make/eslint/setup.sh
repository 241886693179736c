npm init -y >/dev/null
npm install --silent --no-audit --no-fund eslint@10.15.0 @eslint/js@10.0.1 eslint-formatter-compact@9.0.1 eslint-formatter-unix@9.0.1 \
	eslint-formatter-checkstyle@9.0.1 @microsoft/eslint-formatter-sarif@3.1.0
