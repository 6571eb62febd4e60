#include "tests/cuda_sim/src/symbol.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

namespace cuda_sim {
namespace {

std::string read_file(const char* name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The symbol whose code holds the offset, from the full table: dladdr knows exported symbols only.
std::optional<std::string> symbol_at(const std::string& image, std::uintptr_t offset) {
  if (image.size() < sizeof(ElfW(Ehdr))) return std::nullopt;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(image.data());
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(image.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(image.data() + sections[i].sh_offset);
    const char* names = image.data() + sections[sections[i].sh_link].sh_offset;
    for (std::size_t k = 0; k < sections[i].sh_size / sizeof(ElfW(Sym)); ++k) {
      if ((symbols[k].st_info & 0xf) != STT_FUNC || offset - symbols[k].st_value >= symbols[k].st_size) continue;
      return names + symbols[k].st_name;
    }
  }
  return std::nullopt;
}

/// "void a::(anonymous namespace)::f<float>(int)" → "f<float>".
std::string short_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  std::string name = status == 0 ? text.get() : mangled;
  const std::string local = "(anonymous namespace)::";
  for (std::size_t at = name.find(local); at != std::string::npos; at = name.find(local)) name.erase(at, local.size());
  int depth = 0;
  std::size_t begin = 0, end = name.size();
  for (std::size_t i = 0; i < end; ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth != 0) continue;
    if (name[i] == '(') end = i;
    if (name[i] == ' ' || name[i] == ':') begin = i + 1;
  }
  return name.substr(begin, end - begin);
}

}  // namespace

std::string function_name(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0) return "a kernel";
  const auto offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  if (info.dli_sname != nullptr && info.dli_saddr == address) return short_name(info.dli_sname);
  if (const auto symbol = symbol_at(read_file(info.dli_fname), offset)) return short_name(*symbol);
  return "a kernel";
}

}  // namespace cuda_sim
