# frozen_string_literal: true

class Skua < Formula
  desc "HTTP toolkit for C++20, and a command that serves and fetches"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "brotli"
  depends_on "openssl@3"
  depends_on "zstd"

  uses_from_macos "expat"
  uses_from_macos "zlib"

  on_linux do
    depends_on "liburing"
  end

  def install
    args = %w[
      -DSKUA_BUILD_TESTS=OFF
      -DSKUA_BUILD_EXAMPLES=OFF
      -DSKUA_BUILD_BENCH=OFF
      -DSKUA_UNITY=ON
      -DSKUA_WERROR=OFF
      -DSKUA_WITH_TLS=ON
      -DSKUA_WITH_ZLIB=ON
      -DSKUA_WITH_BROTLI=ON
      -DSKUA_WITH_ZSTD=ON
      -DSKUA_WITH_EXPAT=ON
    ]
    system "cmake", "-S", ".", "-B", "build", *args, *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    bash_completion.install "build/completions/skua.bash" => "skua"
    zsh_completion.install "build/completions/_skua"
    fish_completion.install "build/completions/skua.fish"
  end

  test do
    (testpath/"index.html").write "hello"
    server = IO.popen([bin/"skua", "serve", testpath, "--port", "0", "--quiet"].map(&:to_s))
    begin
      url = server.gets.split.last
      assert_equal "hello", shell_output("#{bin}/skua get --quiet #{url}")
    ensure
      Process.kill "TERM", server.pid
      server.close
    end
  end
end
