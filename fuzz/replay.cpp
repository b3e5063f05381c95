// SPDX-License-Identifier: MIT
// Runs a fuzz target on the files in its arguments: for builds without libFuzzer (GCC), and for
// MemorySanitizer, which uninstrumented code confuses: libFuzzer, and all of libstdc++ that is not
// a template.
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
    // An exactly sized copy, so that a sanitizer sees a read past the end.
    const std::vector<std::uint8_t> input(bytes.data(), bytes.data() + size);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
}
