// SPDX-License-Identifier: MIT
#pragma once

namespace skua::test::hashes {

// Hashes of "secret", with the least cost that their methods allow.
inline constexpr const char* bcrypt =
    "$2y$04$/.OC/.OC/.OC/.OC/.OC/.eIDvv7py1Jt.krG4DbpqtL1PTgMk24G";
inline constexpr const char* sha256 =
    "$5$rounds=1000$3IE/3IE/3IE/3IE/$seY8bMl4UTlHbN2O6BtR9zSG3fImjctpkkhZaQvE0l5";
inline constexpr const char* sha512 =
    "$6$rounds=1000$4MU/4MU/4MU/4MU/$ku5nL7u.5YMRwY7R/FeeQ0xv9H363FtsjQwjXnBuqfrteqfqhWgiPbUnOXzS"
    "oKEb5OdNvhUW14f2orU/9hLfu1";
inline constexpr const char* yescrypt =
    "$y$j75$5Qk/5Qk/5Qk/5Qk/5Qk/5.$Je2w.qAwvbf8kK59.gZxpiytRe4MOrGnwquYN98mxL/";

}  // namespace skua::test::hashes
