#!/usr/bin/env bash
# Installs the Python package into an environment of the build, as a user would, for its tests.
#
#     tools/python_env.sh SOURCE_DIR BUILD_DIR
#
# Python, numpy and torch are the system's; what builds the package comes from PyPI where it is not
# there. BUILD_DIR/python then holds the environment and what was compiled. Without the operations for CUDA
# devices, which would take minutes to compile: tests have an imitation of them (tests/emu/).
set -euo pipefail
source=$1
work=$2/python
python=$work/venv/bin/python

[[ -x $python ]] || /usr/bin/python3 -m venv --system-site-packages "$work/venv"
"$python" -c "import scikit_build_core" 2>/dev/null ||
    "$python" -m pip install -q "scikit-build-core>=0.10"
"$python" -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
    --config-settings=build-dir="$work/cmake" --config-settings=cmake.define.CULL_CUDA=OFF "$source/python"
cd /
"$python" -c 'import cull; print("cull", cull.__version__, "in", cull.__path__[0])'
