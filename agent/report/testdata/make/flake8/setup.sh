python3 -m venv .
bin/pip install -q flake8==7.3.0
