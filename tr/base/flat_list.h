#pragma once

#include <utility>

namespace tr {

/// A growing list with an element type that has a default value. The planner works on this instead of std::vector
/// because the compiler runs it: the plan of ResNet-101 took g++ 12 nineteen seconds through std::vector and two to
/// three through bare arrays.
template <class T>
class FlatList {
 public:
  constexpr FlatList() = default;
  constexpr explicit FlatList(int size, const T& value = T()) : data_(new T[size]), capacity_(size), size_(size) {
    for (int i = 0; i < size; ++i) data_[i] = value;
  }
  constexpr FlatList(FlatList&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  constexpr FlatList& operator=(FlatList&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    std::swap(size_, other.size_);
    return *this;
  }
  constexpr ~FlatList() { delete[] data_; }

  /// Appends and gives the position.
  constexpr int push(const T& value) {
    if (size_ == capacity_) grow();
    data_[size_] = value;
    return size_++;
  }
  /// Makes room at `position`, moving what follows by one.
  constexpr void insert(int position, const T& value) {
    push(value);
    for (int i = size_ - 1; i > position; --i) data_[i] = data_[i - 1];
    data_[position] = value;
  }
  constexpr void clear() { size_ = 0; }

  constexpr T& operator[](int i) { return data_[i]; }
  constexpr const T& operator[](int i) const { return data_[i]; }
  constexpr int size() const { return size_; }
  constexpr T* data() { return data_; }
  constexpr const T* data() const { return data_; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }

 private:
  constexpr void grow() {
    capacity_ = capacity_ == 0 ? 16 : 2 * capacity_;
    T* larger = new T[capacity_];
    for (int i = 0; i < size_; ++i) larger[i] = data_[i];
    delete[] data_;
    data_ = larger;
  }

  T* data_ = nullptr;
  int capacity_ = 0;
  int size_ = 0;
};

}  // namespace tr
