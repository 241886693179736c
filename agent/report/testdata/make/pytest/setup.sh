python3 -m venv .
bin/pip install -q pytest==8.4.2 pytest-xdist==3.8.0 pytest-timeout==2.4.0
