python3 -m venv .
bin/pip install -q tox==4.32.0
