python3 -m venv .
bin/pip install -q ruff==0.14.6
