#!/usr/bin/env bash
# Tests every check with small good and bad samples in a temporary folder.
set -uo pipefail
tools=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
wrong=0

passes() {
  local name=$1 said
  shift
  said=$("$@" 2>&1) || { printf 'selftest: %s should pass but failed:\n%s\n' "$name" "$said"; wrong=1; }
}
# fails NAME TEXT COMMAND...: COMMAND must fail and print TEXT
fails() {
  local name=$1 text=$2 said
  shift 2
  if said=$("$@" 2>&1); then printf 'selftest: %s should fail but passed\n' "$name"; wrong=1; return; fi
  [[ $said == *"$text"* ]] || { printf 'selftest: %s failed without printing "%s":\n%s\n' "$name" "$text" "$said"; wrong=1; }
}
fresh() { rm -rf "$folder"/* && mkdir -p src/base src/loop src/http include/skua; }

layers() { python3 "$tools/check_layers.py" src/LAYERS src include; }
good_layers() {
  fresh
  printf 'skua/error.hpp\nbase\nhttp\nloop\ndeny: loop -> http\n' >src/LAYERS
  printf '#include <string>\n' >include/skua/error.hpp
  printf '#include "skua/error.hpp"\n#include "base/a.hpp"\n' >src/base/a.cpp
  printf '#include "base/a.hpp"\n' >src/loop/loop.hpp
}
good_layers; passes "layers: down" layers
printf '#include "loop/loop.hpp"\n' >src/base/up.cpp; fails "layers: up" "base may not include loop/loop.hpp" layers
good_layers; printf '#include "http/x.hpp"\n' >src/loop/no.cpp; fails "layers: denied" "(denied)" layers
good_layers; mkdir src/new; touch src/new/new.cpp; fails "layers: unlisted folder" "new is missing" layers
good_layers; touch include/skua/new.hpp; fails "layers: unlisted header" "skua/new.hpp is missing" layers
good_layers; printf '#include <openssl/ssl.h>\n' >include/skua/error.hpp; fails "layers: third party" "public header" layers
good_layers; printf 'deny: lop -> http\n' >>src/LAYERS; fails "layers: misspelt deny" "unknown layers: lop" layers
good_layers; printf 'skua/gone.hpp\n' >>src/LAYERS; fails "layers: name of nothing" "skua/gone.hpp does not exist" layers

sizes() { python3 "$tools/check_sizes.py" src; }
lines() { for ((i = 0; i < $1; i++)); do echo "$2"; done; }
fresh
{ echo 'namespace a {'; echo 'constexpr int table[] = {'; lines 100 '1, // }'; echo '};'
  echo 'class B : public C<int> {'; echo ' public:'; lines 80 '  int x() const { return {}; }'
  echo '  B() : a_{1}, b_(2) {'; lines 60 '    a("}{", R"({)");'; echo '  }'; echo '};'; echo '}'; } >src/base/good.cpp
passes "sizes: good" sizes
{ echo 'namespace a { template <class T, class U = int>'; echo 'auto f(T t = {}) noexcept -> int {'; lines 70 "  a('{');"; echo '}}'; } >src/base/long.cpp
fails "sizes: long function" "f has 72 lines" sizes
fresh; { echo 'auto f = [](int a) {'; lines 70 "  if (a) { b(); }"; echo '};'; } >src/base/a.cpp
fails "sizes: long lambda" "72 lines" sizes
fresh; { echo 'A::A(int a) : a_{a} {'; lines 70 "  b();"; echo '}'; } >src/base/a.cpp
fails "sizes: long constructor" "72 lines" sizes
fresh; lines 601 'int a;' >src/base/a.cpp; fails "sizes: long file" "601 lines, more than 600" sizes
fresh; for ((k = 0; k < 46; k++)); do echo 'int a;' >src/base/$k.cpp; done
fails "sizes: crowded folder" "46 entries, more than 45" sizes

coroutines() { python3 "$tools/check_coroutines.py" src; }
in_coroutine() { fresh; printf 'Task<> f() {\n  %s\n}\n' "$1" >src/base/a.cpp; }
while IFS= read -r statement; do
  in_coroutine "$statement"; passes "coroutines: $statement" coroutines
done <<'GOOD'
auto r = co_await get(url);
while (auto chunk = co_await request.read()) bytes += chunk->size();
if (co_await a()) co_await b();
for (auto x = co_await a(); x; x = co_await b()) { Point p{1, 2}; use(p); }
auto op = post(url, {.body = s}); co_await op;
if (a) { Point p{1, 2}; } else { co_await b(); }
co_await f([] { return Point{1, 2}; });
co_await f([&x, this]() mutable -> int { return x ? 1 : 2; });
auto g = [p](int n) -> Task<> { co_await h(n); }; co_await g(1);
co_await Yield{};
co_await f(table[n], "a ? b : {c}");
co_await post(url, {.n = 1});  // await-safe: trivially copyable
struct A : B { int x{}; }; co_await a();
switch (x) { case A: { co_await b(); break; } default: break; }
auto g = [](int n) -> decltype(auto) { Point p{1, 2}; return h(n); }; co_await g(1);
auto g = [](int n) -> Task<Result<void(), int>> { Point p{1, 2}; co_return co_await h(n); };
Awaiter operator co_await() const { return Awaiter{1}; }
try { co_await b(); } catch (const E& e) { log(e ? 1 : 2); }
GOOD
while IFS='|' read -r text statement; do
  in_coroutine "$statement"; fails "coroutines: $statement" "$text" coroutines
done <<'BAD'
two co_await|auto r = add(co_await a(), co_await b());
two co_await|if (co_await a() && co_await b()) c();
braces|co_await post(url, {.body = s});
braces|co_return R{.body = co_await g()};
braces|v.push_back({"a", co_await g()});
braces|if (auto r = co_await post(u, Opts{.body = z}); !r.empty()) co_return;
braces|co_return p->x + R{co_await g()};
braces|Point p{co_await x()};
braces|while (co_await next({1, 2})) { a(); }
conditional|auto r = c ? co_await f() : x;
captures by value|co_await f([p] { return p; });
captures by value|co_await f([&a, p = std::move(q)](int n) { return n; });
captures by value|co_await f([=] { return p; });
called immediately|return [n]() -> Task<> { co_await h(n); }();
braces|auto g = [](int n) -> Task<> { co_await h({n}); };
BAD

types() { python3 "$tools/check_types.py" src; }
fresh
{ echo 'namespace a { class B; }'; echo 'namespace a {'; echo 'namespace {'; echo 'struct B {};'; echo '}  // namespace'
  echo 'void f() {'; echo '}'; echo 'struct D::E {'; echo '};'; echo '}  // namespace a'; } >src/base/a.cpp
{ echo 'namespace a {'; echo 'struct B {'; echo '};'; echo 'template <>'; echo 'struct C<B> {};'; echo '}  // namespace a'; } >src/base/b.hpp
{ echo 'namespace a {'; echo 'template <>'; echo 'struct C<int> {};'; echo '}  // namespace a'; echo 'struct B {};'; } >src/base/c.hpp
passes "types: each defined once" types
{ echo 'namespace a {'; echo 'class B final : public C {'; echo '};'; echo '}  // namespace a'; } >src/base/d.cpp
fails "types: defined twice" "a::B is defined in src/base/b.hpp and in src/base/d.cpp" types

extensions() { python3 "$tools/check_extensions.py" src; }
fresh
{ echo '// __builtin_trap'; echo '[[gnu::noinline]] int a(); const char* asm_text = "asm";'; } >src/base/a.cpp
echo 'using V = int __attribute__((vector_size(16)));' >src/base/compiler.hpp
passes "extensions: none but in compiler.hpp" extensions
for extension in '__builtin_trap();' 'int a() __attribute__((noinline));' '#pragma GCC poison x' 'asm volatile("nop");'; do
  fresh; echo "$extension" >src/base/a.cpp; fails "extensions: $extension" "wrap it in base/compiler.hpp" extensions
done

times() { python3 "$tools/check_times.py" src; }
fresh
{ echo 'auto a = later(loop.now(), timeouts.body);'; echo 'began_ += now - paused_;'; echo 'auto b = now - since; ++now; i = snow + 1;'
  echo '// now + timeout'; echo 'auto c = idle_timeout() + lengths;'
  echo 'auto d = now + step;  // time-safe: a constant'; } >src/base/a.cpp
echo 'auto end = now() + 20s;' >src/base/a_test.cpp
passes "times: saturating" times
while IFS= read -r statement; do
  fresh; printf '%s\n' "$statement" >src/base/a.cpp; fails "times: $statement" "use later()" times
done <<'BAD'
deadline_ = loop.now() + wait;
take(idle_since_ + resources_.idle_time());
const auto end = *since + x;
a = b + options.timeouts.body;
return began_+limit;
BAD

locale() { python3 "$tools/check_locale.py" src; }
fresh
{ echo 'void a() { std::printf("%d %s %% %lld 1.5f", 1, "%f", 2LL); }'; echo '// std::printf("%f", 1.0);'
  echo 'double b(const char* text) { return std::strtod(text, nullptr); }  // locale: with its own point'; } >src/base/a.cpp
echo 'void a() { std::printf("%f", 1.0); }' >src/base/a_test.cpp
passes "locale: no floating point" locale
while IFS= read -r statement; do
  fresh; printf '%s\n' "$statement" >src/base/a.cpp; fails "locale: $statement" "src/base/a.cpp:1: " locale
done <<'BAD'
std::printf("%.3f", x);
std::fprintf(stderr, "a, %d (%s) %-8.*g", 1, f(2, ","), 3, x);
std::snprintf(text.data(), text.size(), "%d "
std::snprintf(text.data(), text.size(), format, x);
auto x = std::stod(text);
std::setlocale(LC_ALL, "");
BAD

callbacks() { python3 "$tools/check_callbacks.py" include src; }
fresh
{ echo 'struct A { std::function<void(std::function<void()>)> on_a{}; std::function<void()> kept_; };'
  echo 'void b(std::function<int(int)> call); const std::function<void()>& log() const;'
  echo 'using C = std::function<Task<>(int)>;'; } >include/skua/a.hpp
printf '// throws: a.on_a a.b\n// throws: a.C\n' >src/base/a_test.cpp
passes "callbacks: all are thrown from" callbacks
printf '// throws: a.on_a a.C\n' >src/base/a_test.cpp; fails "callbacks: one is missing" "a.b: no test throws" callbacks
printf '// throws: a.on_a a.b a.C a.d\n' >src/base/a_test.cpp; fails "callbacks: one is gone" "a.d: a test names" callbacks

problems() { python3 "$tools/check_problems.py" include src; }
fresh
{ echo 'class A {'; echo ' public:'; echo '  Task<Result<std::map<int, int>, Problem>> b(int a);'; echo '  virtual Result<void, Problem> v();'
  echo ' private:'; echo '  Result<void, Problem> p();'; echo '};'; echo 'Result<int> d(std::function<Result<int, Problem>()> call);'
  echo 'Result<int, Problem> c();'; } >include/skua/a.hpp
printf '// names: a.b\n// names: a.c\n' >src/base/a_test.cpp; passes "problems: all are looked at" problems
printf '// names: a.c\n' >src/base/a_test.cpp; fails "problems: one is missing" "a.b: no test looks" problems
printf '// names: a.b a.c a.p\n' >src/base/a_test.cpp; fails "problems: one is gone" "a.p: a test names" problems

comments() { python3 "$tools/check_comments.py" src; }
fresh; git init -q .
printf '// See a.cpp, https://b.test/c.cpp and A::b.\n// ```\n// d.cpp\n// ```\nstruct A { int b; };\n' >src/base/a.cpp
git add .; passes "comments: what they name is there" comments
printf '// See base/b.cpp.\n' >src/base/a.cpp; fails "comments: a file is gone" "a.cpp:1: there is no base/b.cpp" comments
printf 'struct A {};  // A::b\n' >src/base/a.cpp; fails "comments: a member is gone" "a.cpp:1: there is no A::b" comments

paths() { python3 "$tools/check_paths.py" .; }
fresh; git init -q .; mkdir -p tools
{ echo 'import argparse'; echo 'if __name__ == "__main__": main()'; } >tools/a.py; echo 'a = 1' >tools/b.py; touch a-b 'a b'
git add .; passes "paths: whole" paths
mkdir -- --help; touch -- --help/a; git add .; fails "paths: begins with a dash" "--help/a: git and shells" paths
git rm -rqf -- --help; echo 'if __name__ == "__main__": main(sys.argv)' >tools/b.py; git add .
fails "paths: a script without --help" "tools/b.py: " paths

headers() { python3 "$tools/check_headers.py" include; }
fresh; printf '#pragma once\n#include <string>\ninline std::string a() { return {}; }\n' >include/skua/a.hpp
passes "headers: whole" headers
printf '#pragma once\ninline std::string a();\n' >include/skua/a.hpp; fails "headers: lacks an include" "does not compile alone" headers
printf 'struct A {};\n' >include/skua/a.hpp; fails "headers: no pragma once" "does not compile alone" headers
printf '#pragma once\n#include "skua/b.hpp"\ninline B a() { return {}; }\n' >include/skua/a.hpp
printf '#pragma once\nstruct B {};\n' >include/skua/b.hpp
passes "headers: two" headers; passes "headers: remembered" headers
printf '#pragma once\nstruct C {};\n' >include/skua/b.hpp; fails "headers: another changed" "a.hpp does not compile alone" headers
fresh; printf '#pragma once\n' >include/skua/a.hpp; printf '#pragma once\n#include "skua/b.hpp"\n' >include/skua.hpp
fails "headers: one include" "skua.hpp does not include skua/a.hpp" headers

snippets() { python3 "$tools/check_snippets.py" .; }
good_readme() {
  fresh; mkdir docs
  printf '%s\n' '#pragma once' 'namespace skua { inline int f() { return 1; }' \
    'namespace literals { consteval int operator""_KiB(unsigned long long n) { return int(n) << 10; } } }' >include/skua.hpp
  printf '`make run` `make test` [docs](docs)\n```cpp\n#include <skua.hpp>\n\nusing namespace skua::literals;\nint main() { return skua::f(); }\n```\n```cpp fragment\nint a = skua::f() + 1_KiB;\n```\n```cpp fragment\nint a = 2;\n```\n' >README.md
}
fragment() { printf '```cpp fragment\n%s\n```\n' "$1" >>docs/a.md; }
page() { good_readme; printf '```cpp\n%s\n```\n' "$1" >docs/a.md; }
good_readme; passes "snippets: good" snippets; passes "snippets: remembered" snippets
printf '#pragma once\n' >include/skua.hpp; fails "snippets: a header changed" "README.md:" snippets
page '#include <skua.hpp>'; fragment 'skua::g();'; fails "snippets: fragment" "docs/a.md:5:7: error" snippets
page '#include <skua.hpp>'; fragment 'int a = b ? co_await c() : d;'
fails "snippets: miscompiled" "docs/a.md:5: a conditional operator" snippets
good_readme; fragment 'skua::f();'; fails "snippets: no include shown" "docs/a.md:2" snippets
page '#include <skua.hpp>'; fragment 'int a = 1_KiB;'; fails "snippets: no literals shown" "docs/a.md:5" snippets
good_readme; fragment 'skua::f();'; printf '```cpp\n#include <skua.hpp>\n```\n' >>docs/a.md
fails "snippets: shown too late" "docs/a.md:2" snippets
page '#include <skua.hpp>'; fragment 'int a = 1;'; fragment 'int b = a;'; fails "snippets: another fragment's names" "docs/a.md:8" snippets
good_readme; printf '```cpp\nint main() { skua::f(); }\n```\n' >docs/a.md; fails "snippets: file" "does not compile" snippets
good_readme; echo '[a](nowhere.md)' >>README.md; fails "snippets: link" "broken link to nowhere.md" snippets
good_readme; echo 'hello' >README.md; fails "snippets: commands" 'make run' snippets

message() { printf '%s\n' "$1" >message; python3 "$tools/check_commits.py" --message message; }
for subject in 'feat(base): add a thing' 'build: start the tree' 'fix(cli): HEAD of a folder'; do passes "commits: $subject" message "$subject"; done
while IFS='|' read -r text subject; do fails "commits: $subject" "$text" message "$subject"; done <<'BAD'
is not|Add a thing
not one of|chore(base): a thing
neither|feat(nowhere): a thing
has no scope|feat: a thing
capital|feat(base): Add a thing
full stop|feat(base): add a thing.
columns|feat(base): add a thing that is described at such a length that it does not fit
BAD

# In a repository of its own, as both checks ask git which files there are.
fresh_pages() {
  fresh && mkdir -p docs src/h1 && git init -q . && touch src/h1/framing.hpp src/h1/framing.cpp
  printf 'int read_length() { return 0; }\n' >src/h1/framing.cpp
  printf 'See `src/h1/framing.{hpp,cpp}` and `h1/framing.cpp`: `read_length()`.\n' >docs/a.md
}
pages() { python3 "$tools/check_pages.py" .; }
fresh_pages; passes "pages: good" pages
printf 'See `src/h1/gone.cpp`.\n' >>docs/a.md; fails "pages: no such file" 'a.md:2: `src/h1/gone.cpp` does not exist' pages
fresh_pages; printf '`h1/framing.hpp`: `read_length()`\n' >>docs/a.md; fails "pages: in another file" "no read_length in src/h1/framing.hpp" pages
fresh_pages; printf '`skua::Gone`\n' >>docs/a.md; fails "pages: no such symbol" "no skua in the sources" pages
fresh_pages; printf '| `other::name()` | `read_length()` |\n' >docs/coming-from-other.md; passes "pages: another library's names" pages
printf '| `other::name()` | `other::name()` |\n' >docs/coming-from-other.md; fails "pages: not their column" "no other in the sources" pages

words() { python3 "$tools/check_words.py" .; }
fresh_pages; printf '```grep\nis no [a-z]+ to\n```\n' >STYLE.md; passes "words: good" words
printf '// a name that is %s name to have\n' no >src/h1/a.cpp; fails "words: a bad habit" "src/h1/a.cpp:1:" words
rm -rf .git STYLE.md

# The site is built from the tree's own docs/site.
fresh_site() {
  fresh && mkdir -p docs/images bench/results examples && cp -r "$tools/../docs/site" docs/ && echo '# Design' >docs/design.md
  printf '# skua\n\n## Guides\n\n[a](docs/a.md#a-part), [a header](include/skua/a.hpp), [examples](examples)\n' >README.md
  printf '# A page\n\n## A part\n\n`--port 0` and `@FILE`, and `skua::Router`.\n' >docs/a.md
  cat >include/skua/a.hpp <<'HEADER'
/// All names.
namespace skua {
/// Routes requests.
class Router {
 public:
  /// Adds a route.
  ///
  /// Ends with: an error.
  Router& add(int path) &;
  Router&& add(int path) && { return std::move(add(path)); }
  template <class T>
  Router& add(T path) {
    static_assert(detail::never<T>, "a mistake");
  }

 private:
  /// Nobody reads this.
  int hidden_ = 0;
};
}  // namespace skua
HEADER
}
docs() { python3 "$tools/check_docs.py"; }
shows() { grep -q "$1" build/docs/html/classskua_1_1Router.html; }
if command -v doxygen >/dev/null; then
  fresh_site; passes "docs: good" docs; passes "docs: a contract" shows '<dt>Ends with</dt>'
  fails "docs: private members" "" shows hidden_; fails "docs: mistakes" "" shows 'class T'; fails "docs: temporaries" "" shows '&amp;&amp;'
  sed -i 's/a-part/another-part/' README.md; fails "docs: link" "broken link to a.html#a_another-part" docs
  fresh_site; sed -i '/Routes requests/d' include/skua/a.hpp; fails "docs: no sentence" "Router has no" docs
  fresh_site; sed -i 's/Adds a route/Adds a @route/' include/skua/a.hpp; fails "docs: warning" "unknown command '@route'" docs
  fresh_site; sed -i 's/class Router/class Rooter/' include/skua/a.hpp; fails "docs: search" "a search for Router finds []" docs
fi

leftovers() { python3 "$tools/leftovers.py" "$folder" bash -c "$1"; }
passes "leftovers: all have ended" leftovers 'sleep 1 & wait'
fails "leftovers: one runs on" "running: sleep 60" leftovers 'sleep 60 >/dev/null 2>&1 &'
fails "leftovers: the command fails" "it is broken" leftovers 'echo it is broken; exit 3'

cat >tests.xml <<'XML'
<testsuite><testcase name="green" status="run"><system-out>fine</system-out></testcase>
<testcase name="red" status="fail"><system-out>expected 1, got 2</system-out></testcase></testsuite>
XML
failures() { python3 "$tools/failures.py" tests.xml | tr '\n' ' ' | grep -qx "$1"; }
passes "failures: one of two" failures ' red failed; the end of its output: expected 1, got 2 '

cat >tests.xml <<'XML'
<testsuite><testcase name="peers" status="run"><system-out>Node: skipped, not installed
2 passed, 0 skipped</system-out></testcase>
<testcase name="test-a" status="run"><system-out>/x/src/base/a_test.cpp:7: Skipped
needs a disk</system-out></testcase></testsuite>
XML
skips() { env CI="$1" python3 "$tools/skips.py" --list skips.txt dev tests.xml; }
echo '* | src/.* | needs a .* | it is so' >skips.txt
fails "skips: one is not argued" "  peers: Node: skipped, not installed" skips true
passes "skips: outside of CI" skips ''
echo 'tsan | peers | .* | no' >>skips.txt; fails "skips: another preset" "does not argue for" skips true
echo 'dev | peers | Node: .* | yes' >>skips.txt; passes "skips: all are argued" skips true
echo 'dev | peers' >>skips.txt; fails "skips: a malformed rule" "skips.txt:4: not" skips true

[ $wrong -eq 0 ] && echo "selftest: every check accepts good samples and rejects bad ones"
exit $wrong
