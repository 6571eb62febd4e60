#pragma once

// The functions that code compiled with -fsanitize=thread calls before each access. Ours take the place of libtsan's.

extern "C" {

void __tsan_init();
void __tsan_func_entry(const void* caller);
void __tsan_func_exit();

void __tsan_read1(const void* address);
void __tsan_read2(const void* address);
void __tsan_read4(const void* address);
void __tsan_read8(const void* address);
void __tsan_read16(const void* address);
void __tsan_write1(const void* address);
void __tsan_write2(const void* address);
void __tsan_write4(const void* address);
void __tsan_write8(const void* address);
void __tsan_write16(const void* address);
void __tsan_unaligned_read2(const void* address);
void __tsan_unaligned_read4(const void* address);
void __tsan_unaligned_read8(const void* address);
void __tsan_unaligned_read16(const void* address);
void __tsan_unaligned_write2(const void* address);
void __tsan_unaligned_write4(const void* address);
void __tsan_unaligned_write8(const void* address);
void __tsan_unaligned_write16(const void* address);
void __tsan_read_range(const void* address, unsigned long bytes);
void __tsan_write_range(const void* address, unsigned long bytes);
void __tsan_vptr_update(void* const* address, const void* value);
void __tsan_vptr_read(void* const* address);

// What function-local statics, std::shared_ptr and std::atomic need in host functions that stand beside kernels.
unsigned char __tsan_atomic8_load(const volatile unsigned char* address, int order);
void __tsan_atomic8_store(volatile unsigned char* address, unsigned char value, int order);
unsigned __tsan_atomic32_load(const volatile unsigned* address, int order);
void __tsan_atomic32_store(volatile unsigned* address, unsigned value, int order);
unsigned __tsan_atomic32_fetch_add(volatile unsigned* address, unsigned value, int order);
unsigned long __tsan_atomic64_load(const volatile unsigned long* address, int order);
void __tsan_atomic64_store(volatile unsigned long* address, unsigned long value, int order);
unsigned long __tsan_atomic64_fetch_add(volatile unsigned long* address, unsigned long value, int order);
unsigned long __tsan_atomic64_exchange(volatile unsigned long* address, unsigned long value, int order);

}  // extern "C"
