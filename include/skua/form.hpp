// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/mistakes.hpp"

namespace skua {

/// Limits of a form. Zero allows nothing.
struct FormLimits {
  std::size_t fields = 1000;        ///< else BodyTooLong
  std::size_t total_bytes = 1_MiB;  ///< names and values together, decoded; else BodyTooLong
};

/// Limits of multipart content, whatever its size.
struct MultipartLimits {
  std::size_t parts = 128;               ///< else TooManyParts
  std::size_t part_head_bytes = 16_KiB;  ///< all field lines of a part; else PartHeadTooLong
  std::size_t part_fields = 64;          ///< at most 64; else PartHeadTooLong
};

/// A decoded field of a form.
struct FormField {
  std::string_view name{};
  std::string_view value{};
};

class FormValues;

/// The fields of a form, in order; names may repeat.
///
/// ```cpp
/// auto form = skua::Form::parse("user=ada&tag=a&tag=b");
/// auto user = form->get("user").value_or("guest");
/// auto text = skua::Form().add("q", "fish & chips").to_string();  // q=fish+%26+chips
/// ```
/// Lifetime:  names and values are views that are valid until the form is changed or destroyed.
class SKUA_API Form final {
 public:
  class Iterator {
   public:
    FormField operator*() const noexcept { return form_->field(index_); }
    Iterator& operator++() noexcept { return ++index_, *this; }
    bool operator==(const Iterator& other) const noexcept = default;

   private:
    friend class Form;
    Iterator(const Form& form, std::size_t index) noexcept : form_(&form), index_(index) {}
    const Form* form_;
    std::size_t index_;
  };

  Form() noexcept = default;

  /// Parses `application/x-www-form-urlencoded` as browsers write it: `+` is a space, `%41` is A.
  ///
  /// A percent sign without two hex digits stands for itself, as in `Request::query`; the result is
  /// bytes, which need not be UTF-8.
  /// Ends with: BodyTooLong past the limits.
  /// RFC:       WHATWG URL §5.1
  static Result<Form> parse(std::string_view text, const FormLimits& limits = {});

  /// Parses the whole content of a message: urlencoded, or the text fields of
  /// `multipart/form-data`, skipping parts with a file name.
  ///
  /// Ends with: UnsupportedMediaType for any other `content_type`; BodyTooLong past the limits;
  ///            TooManyParts for more parts than `FormLimits::fields`; MalformedMultipart,
  ///            TruncatedBody, PartHeadTooLong.
  /// RFC:       7578
  static Result<Form> parse_content(std::string_view content_type, std::string_view content,
                                    const FormLimits& limits = {});

  /// Appends a field.
  Form& add(std::string_view name, std::string_view value) &;
  Form&& add(std::string_view name, std::string_view value) && {
    return std::move(add(name, value));
  }
  template <detail::NotText T>
  Form& add(std::string_view, const T&) {
    detail::need_text<T>();
    return *this;
  }

  /// Returns the value of the first field with exactly this name.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const noexcept
      SKUA_LIFETIMEBOUND;
  /// Returns all values of a name, in order: `for (std::string_view tag : form.all("tag"))`.
  [[nodiscard]] FormValues all(std::string_view name) const noexcept SKUA_LIFETIMEBOUND;

  /// Iterates over the fields in order: `for (auto [name, value] : form)`.
  [[nodiscard]] Iterator begin() const noexcept SKUA_LIFETIMEBOUND { return {*this, 0}; }
  [[nodiscard]] Iterator end() const noexcept SKUA_LIFETIMEBOUND { return {*this, size()}; }
  [[nodiscard]] std::size_t size() const noexcept { return spans_.size(); }
  [[nodiscard]] bool empty() const noexcept { return spans_.empty(); }
  /// The size of all names and values, which `FormLimits::total_bytes` limits.
  [[nodiscard]] std::size_t total_bytes() const noexcept { return text_.size(); }

  /// Formats the form as `application/x-www-form-urlencoded`.
  ///
  /// RFC:       WHATWG URL §5.2
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Form&, const Form&) = default;

 private:
  friend class FormValues;

  struct Span {
    std::size_t begin = 0;  // of the name; the value follows it
    std::size_t name_bytes = 0;
    std::size_t value_bytes = 0;
    friend bool operator==(const Span&, const Span&) = default;
  };

  [[nodiscard]] FormField field(std::size_t index) const noexcept;
  [[nodiscard]] std::size_t find_from(std::size_t index, std::string_view name) const noexcept;
  void add_encoded(std::string_view name, std::string_view value);

  std::string text_;  // all names and values, concatenated
  std::vector<Span> spans_;
};

/// The values of one name; see `Form::all`.
class FormValues final {
 public:
  class Iterator {
   public:
    std::string_view operator*() const noexcept { return form_->field(index_).value; }
    Iterator& operator++() noexcept {
      index_ = form_->find_from(index_ + 1, name_);
      return *this;
    }
    bool operator==(const Iterator& other) const noexcept { return index_ == other.index_; }

   private:
    friend class FormValues;
    Iterator(const Form& form, std::string_view name, std::size_t index) noexcept
        : form_(&form), name_(name), index_(index) {}
    const Form* form_;
    std::string_view name_;
    std::size_t index_;
  };

  [[nodiscard]] Iterator begin() const noexcept {
    return {*form_, name_, form_->find_from(0, name_)};
  }
  [[nodiscard]] Iterator end() const noexcept { return {*form_, name_, form_->size()}; }

 private:
  friend class Form;
  FormValues(const Form& form, std::string_view name) noexcept : form_(&form), name_(name) {}
  const Form* form_;
  std::string_view name_;
};

}  // namespace skua
