/* compare_nvjitlink.c: our declarations against a real nvJitLink.h. That it compiles is the test. */
#define NVJITLINK_NO_INLINE
#include <nvJitLink.h>

#define LW_NVJITLINK_COMPARE
#include "shim/nvjitlink/abi.h"

#define CONSTANT(name, value) _Static_assert((unsigned)name == (value), #name);
#include "shim/nvjitlink/constants.def"

_Static_assert(sizeof(nvJitLinkResult) == sizeof(unsigned) && sizeof(nvJitLinkInputType) == sizeof(unsigned), "words");

/* Declared a second time, which the compiler refuses where the types differ. */
#define ENTRY(name, version, parameters) extern nvJitLinkResult __nvJitLink##name##_##version parameters;
ENTRIES(ENTRY, 13_0)

int main(void) { return 0; }
