python3 -m venv .
bin/pip install -q mypy==1.18.2
