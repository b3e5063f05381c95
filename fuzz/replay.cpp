// SPDX-License-Identifier: MIT
// Runs a fuzz target over files instead of inventing inputs: for builds without libFuzzer (GCC),
// and for MemorySanitizer, which libFuzzer's uninstrumented code would confuse, as all of libstdc++
// that is not a template would. Every argument is a file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** arguments) {
  std::vector<std::uint8_t> bytes(std::size_t{1} << 20);
  for (int i = 1; i < count; ++i) {
    std::FILE* const file = std::fopen(arguments[i], "rb");
    if (file == nullptr) {
      std::perror(arguments[i]);
      return 1;
    }
    const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
    // A copy of the exact size, so that a sanitizer sees a read past its end.
    const std::vector<std::uint8_t> input(bytes.data(), bytes.data() + size);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
}
