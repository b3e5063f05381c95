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
    ]
    system "cmake", "-S", ".", "-B", "build", *args, *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    bash_completion.install "build/completions/skua.bash" => "skua"
    zsh_completion.install "build/completions/_skua"
    fish_completion.install "build/completions/skua.fish"
  end

  test do
    port = free_port
    (testpath/"index.html").write "hello"
    server = spawn bin/"skua", "serve", testpath, "--port", port.to_s
    begin
      sleep 1
      assert_equal "hello", shell_output("#{bin}/skua get --quiet http://127.0.0.1:#{port}/")
    ensure
      Process.kill "TERM", server
      Process.wait server
    end
  end
end
