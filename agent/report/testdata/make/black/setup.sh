python3 -m venv .
bin/pip install -q black==25.11.0 isort==7.0.0
