// SPDX-License-Identifier: MIT
// In: bytes and a 4-byte key. Out: the bytes XORed with the repeated key. The key is widened to a
// word, and compilers vectorize the loop over blocks of eight words.
#include "ws/mask.hpp"

#include <cstdint>
#include <cstring>

namespace skua::ws {
namespace {

using Word = std::uint64_t;
constexpr std::size_t block_words = 8;
constexpr std::size_t mask_block_bytes = block_words * sizeof(Word);

void mask_block(char* p, Word key) noexcept {
  std::array<Word, block_words> words;
  std::memcpy(words.data(), p, mask_block_bytes);
  for (Word& word : words) word ^= key;
  std::memcpy(p, words.data(), mask_block_bytes);
}

void mask_word(char* p, Word key) noexcept {
  Word word;
  std::memcpy(&word, p, sizeof word);
  word ^= key;
  std::memcpy(p, &word, sizeof word);
}

}  // namespace

void mask(std::span<char> bytes, const std::array<char, 4>& key, std::size_t offset) noexcept {
  std::array<char, sizeof(Word)> repeated;
  for (std::size_t i = 0; i < repeated.size(); ++i) repeated[i] = key[(offset + i) % key.size()];
  Word word;
  std::memcpy(&word, repeated.data(), sizeof word);

  char* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= mask_block_bytes; left -= mask_block_bytes, p += mask_block_bytes)
    mask_block(p, word);
  for (; left >= sizeof(Word); left -= sizeof(Word), p += sizeof(Word)) mask_word(p, word);
  for (std::size_t i = 0; i < left; ++i) p[i] = static_cast<char>(p[i] ^ repeated[i]);
}

}  // namespace skua::ws
