#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: tests/install/run.sh tree|find_package|pkg_config     (ctest sets the environment)
set -eu
folder=$BUILD/install-test
tree=$folder/moved/berth

fail() {
  echo "$*" >&2
  exit 1
}

# The consumer's word on a plan it made itself, alone and on two ranks.
runs() {
  for launcher in "" "$MPIEXEC -n 2"; do
    # shellcheck disable=SC2086 # two words or none
    said=$($launcher "$1")
    echo "$said"
    case $said in
      *berth*plans:*valid*) ;;
      *) fail "$1 says something else" ;;
    esac
  done
}

case $1 in
  tree)
    rm -rf "$folder"
    mkdir -p "$folder/moved"
    "$CMAKE" --install "$BUILD" --prefix "$folder/first" > "$folder/install.log"
    mv "$folder/first" "$tree"
    found=$(grep -rlE --include='*.cmake' --include='*.pc' --include='*.hpp' \
      "$BUILD|$SOURCE|$folder/first" "$tree") && fail "names the build, source or first folder: $found"
    (cd "$SOURCE/include" && find . -name '*.hpp' | sort) > "$folder/headers.source"
    (cd "$tree/include" && find . -name '*.hpp' | sort) > "$folder/headers.installed"
    diff "$folder/headers.source" "$folder/headers.installed" >&2 ||
      fail "headers that no library lists in its CMakeLists.txt are not installed"
    "$tree/bin/berth" --version
    grep -q 'gap' "$tree/share/man/man1/berth.1" || fail "no manual page"
    bash -n "$tree/share/bash-completion/completions/berth" || fail "no completion"
    "$tree/bin/berth" generate hetero --gpus 64 --out-cluster "$folder/c.yaml" \
      --out-jobs "$folder/j.jsonl"
    "$tree/bin/berth" plan --cluster "$folder/c.yaml" --jobs "$folder/j.jsonl" \
      --out "$folder/plan.json"
    ;;
  find_package)
    rm -rf "$folder/find_package"
    "$CMAKE" -S "$SOURCE/tests/install/consumer" -B "$folder/find_package" -G "$GENERATOR" \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$tree" -DMPI_C_COMPILER="$MPICC" \
      -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX"
    grep -q "berth_DIR:PATH=$tree/" "$folder/find_package/CMakeCache.txt" || fail "another berth"
    "$CMAKE" --build "$folder/find_package"
    runs "$folder/find_package/consumer"
    runs "$folder/find_package/stages"
    ;;
  pkg_config)
    PKG_CONFIG_PATH=$(dirname "$(find "$tree" -name berth.pc)"):$PETSC_DIR/${PETSC_ARCH:-}/lib/pkgconfig
    export PKG_CONFIG_PATH
    [ "$(pkg-config --modversion berth)" = "$("$tree/bin/berth" --version | cut -d' ' -f2)" ] ||
      fail "versions differ"
    mkdir -p "$folder/pkg_config"
    # shellcheck disable=SC2046 # words
    "$CXX" -std=c++20 -O2 "$SOURCE/tests/install/consumer/main.cpp" -o "$folder/pkg_config/consumer" \
      $(pkg-config --cflags --libs berth) -Wl,-rpath,"$(pkg-config --variable=libdir PETSc)"
    runs "$folder/pkg_config/consumer"
    version=$("$folder/pkg_config/consumer" | sed -n 's/^berth \([0-9.]*\) plans.*/\1/p')
    [ "$version" = "$(pkg-config --modversion berth)" ] || fail "headers are of version $version"
    ;;
esac
