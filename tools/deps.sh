#!/usr/bin/env bash
# Installs missing dependencies of skua with apt; returns quickly if none are missing.
# Usage: deps.sh [test] [docs] [ci] [bench] [arm64] [musl] [windows]
#                      Without an argument: what builds the library and the command. `test` adds all that the checks
#                      and the tests need: compilers, servers (which are not started), browsers and other clients;
#                      `docs` adds Doxygen; `ci` is for .ci/run: `test`, `docs`, Clang's tools and what makes packages;
#                      `bench` adds the servers, load generators and libraries of the benchmarks, but not Go, Rust and
#                      Node; `arm64`, `musl` and `windows` add those of tools/test_arm64.sh, tools/test_musl.sh and
#                      tools/test_windows.sh. `deps.sh --list GROUP...` prints the packages instead.
# On systems other than Debian and Ubuntu it only lists the missing packages.
set -euo pipefail
only_list=
if [ "${1:-}" = --list ]; then only_list=1; shift; fi

# a command, header or path to look for, and the Debian package that provides it
needs="
g++ g++
cmake cmake
make make
ninja ninja-build
ccache ccache
liburing.h liburing-dev
openssl/evp.h libssl-dev
zlib.h zlib1g-dev
brotli/encode.h libbrotli-dev
zstd.h libzstd-dev
expat.h libexpat1-dev
CLI/CLI.hpp libcli11-dev
nlohmann/json.hpp nlohmann-json3-dev
crypt.h libcrypt-dev
toml++/toml.h libtomlplusplus-dev
idn2.h libidn2-dev
md4c.h libmd4c-dev
qrencode.h libqrencode-dev
"
test_needs="
python3 python3
pip3 python3-pip
git git
nghttp2/nghttp2.h libnghttp2-dev
gtest/gtest.h libgtest-dev
benchmark/benchmark.h libbenchmark-dev
curl/curl.h libcurl4-openssl-dev
clang++-19 clang-19
clang-format-19 clang-format-19
curl curl
/usr/lib/python3/dist-packages/requests python3-requests
openssl openssl
mandoc mandoc
man man-db
zsh zsh
fish fish
systemd-analyze systemd
ip iproute2
wrk wrk
strace strace
ruby ruby
/usr/sbin/nginx nginx
/usr/lib/nginx/modules/ngx_stream_module.so libnginx-mod-stream
/usr/sbin/apache2 apache2-bin
/usr/sbin/haproxy haproxy
/usr/sbin/squid squid
redis-cli redis-tools
redis-server redis-server
litmus litmus
prometheus prometheus
rclone rclone
chromium chromium
chromedriver chromium-driver
"
docs_needs="
doxygen doxygen
"
ci_needs="$test_needs$docs_needs
valgrind valgrind
pkg-config pkg-config
dpkg-shlibdeps dpkg-dev
lintian lintian
mmdebstrap mmdebstrap
clang-tidy-19 clang-tidy-19
llvm-symbolizer-19 llvm-19
/usr/lib/llvm-19/lib/clang/19/lib/linux libclang-rt-19-dev
"
bench_needs="
wrk wrk
strace strace
h2load nghttp2-client
/usr/sbin/nghttpd nghttp2-server
/usr/sbin/nginx nginx
h2o h2o
/usr/sbin/haproxy haproxy
/usr/sbin/apache2 apache2-bin
redis-cli redis-tools
redis-server redis-server
perf linux-perf
valgrind valgrind
boost/beast.hpp libboost-dev
httplib.h libcpp-httplib-dev
"
arm64_needs="
aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
qemu-aarch64 qemu-user
"
musl_needs="
pip3 python3-pip
/usr/src/googletest/googletest googletest
"
windows_needs="
x86_64-w64-mingw32-g++-posix g++-mingw-w64-x86-64-posix
/usr/x86_64-w64-mingw32/lib/libz.a libz-mingw-w64-dev
/usr/src/googletest/googletest googletest
wine wine
/usr/lib/wine/wine64 wine64
"
for more in "$@"; do
  group=${more}_needs
  needs="$needs${!group}"
done

is_there() {
  case $1 in
    /*) [ -e "$1" ] ;;
    *.h | *.hpp)
      local root
      for root in /usr/include /usr/local/include "/usr/include/$(uname -m)-linux-gnu" /opt/homebrew/include; do
        [ -e "$root/$1" ] && return 0
      done
      return 1 ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}

if [ -n "$only_list" ]; then
  sed -n 's/.* //p' <<<"$needs" | sort -u
  exit 0
fi

missing=()
while read -r what package; do
  [ -z "$what" ] || is_there "$what" || missing+=("$package")
done <<<"$needs"
[ ${#missing[@]} -eq 0 ] && exit 0

give_up() {
  echo "skua: $1" >&2
  echo "skua: please install these packages (Debian names): ${missing[*]}" >&2
  exit 1
}

command -v apt-get >/dev/null 2>&1 || give_up "this is not Debian or Ubuntu, so nothing was installed."
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null 2>&1 || give_up "installing packages needs root, and there is no sudo."
  as_root=(sudo)
fi

echo "skua: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Runlevel 1 keeps installed services from starting.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1 </dev/null; }
apt update -q || { tail -n 20 "$log" >&2; echo "skua: apt-get update failed; continuing with the existing package lists" >&2; }
apt install -q -y --no-install-recommends "${missing[@]}" || { tail -n 20 "$log" >&2; give_up "apt-get install failed."; }
